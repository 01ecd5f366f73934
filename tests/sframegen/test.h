/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Makes .eh_frame bytes and prints rows, for the tests of sframegen. */
#ifndef SFRAMEGEN_TEST_H
#define SFRAMEGEN_TEST_H

#include <dirent.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "../lib/tap.h"
#include "commands.h"
#include "core.h"

/* SFrame has no numbers for these. */
#define RISCV	SFG_ABI_ELF(ELFDATA2LSB, EM_RISCV)
#define POWER	SFG_ABI_ELF(ELFDATA2LSB, EM_PPC64)

static inline unsigned int files_in(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;	/* . and .. */
}

/* A growing section. */
struct bytes {
	uint8_t p[65536];
	size_t len;
	bool big_endian;
};

static inline void put(struct bytes *b, const void *p, size_t len)
{
	if (len > sizeof(b->p) - b->len)
		abort();
	if (len)
		memcpy(b->p + b->len, p, len);
	b->len += len;
}

static inline void put_int(struct bytes *b, uint64_t v, unsigned int len)
{
	unsigned int i;
	uint8_t byte;

	for (i = 0; i < len; i++) {
		byte = v >> 8 * (b->big_endian ? len - 1 - i : i);
		put(b, &byte, 1);
	}
}

static inline void patch_length(struct bytes *b, size_t at)
{
	size_t end = b->len;

	b->len = at;
	put_int(b, end - at - 4, 4);
	b->len = end;
}

struct cie {
	const char *augmentation;
	uint8_t version, encoding;
	uint8_t code_align, data_align, ra;	/* one byte of LEB128 each */
	uint8_t personality;		/* its encoding; 0: a usual one */
	const char *program;
	size_t program_len;
};

/* A string of bytes, and how many there are. */
#define P(bytes)	bytes, sizeof(bytes) - 1

#define AMD64_CIE(letters, bytes) {					\
	.augmentation = (letters), .version = 1, .code_align = 1,	\
	.data_align = 0x78, .ra = 16,					\
	.program = (bytes), .program_len = sizeof(bytes) - 1,		\
}

/* CFA = sp + 8, RA at CFA - 8: what every AMD64 CIE begins with. */
#define AMD64_PLAIN_CIE	AMD64_CIE("zR", "\x0c\x07\x08\x90\x01")

static inline size_t put_cie(struct bytes *b, const struct cie *cie)
{
	const char *letter;
	size_t at = b->len;

	put_int(b, 0, 8);
	put_int(b, cie->version, 1);
	put(b, cie->augmentation, strlen(cie->augmentation) + 1);
	if (cie->version == 4)
		put_int(b, 0x0008, 2);
	put_int(b, cie->code_align, 1);
	put_int(b, cie->data_align, 1);
	put_int(b, cie->ra, 1);
	if (*cie->augmentation == 'z') {
		size_t len = 0;

		for (letter = cie->augmentation + 1; *letter; letter++)
			len += *letter == 'R' || *letter == 'L' ? 1 :
			       *letter == 'P' ? 5 : 0;
		put_int(b, len, 1);
		for (letter = cie->augmentation + 1; *letter; letter++) {
			if (*letter == 'R')
				put_int(b, cie->encoding, 1);
			if (*letter == 'L')
				put_int(b, 0x1b, 1);
			if (*letter == 'P') {
				put_int(b, cie->personality ? : 0x9b, 1);
				put_int(b, 0x1234, 4);
			}
		}
	}
	put(b, cie->program, cie->program_len);
	patch_length(b, at);
	return at;
}

/* With addresses of 8 bytes, absolute. */
static inline void put_fde(struct bytes *b, size_t cie, bool augmented,
			   uint64_t start, uint64_t size, const void *program,
			   size_t len)
{
	size_t at = b->len;

	put_int(b, 0, 4);
	put_int(b, b->len - cie, 4);
	put_int(b, start, 8);
	put_int(b, size, 8);
	if (augmented)
		put_int(b, 0, 1);
	put(b, program, len);
	patch_length(b, at);
}

/* "0-40: 0 CFA=sp+8, 4 CFA=sp+16" per FDE, relative to 'base'. */
static inline void print_fdes(FILE *out, unsigned int abi,
			      const struct sfg_fdes *fdes, uint64_t base)
{
	const struct sfjit_function *fde = fdes->fdes;
	char text[ROW_TEXT_MAX];
	size_t i;
	uint32_t k;

	for (i = 0; i < fdes->nr; i++, fde++) {
		fprintf(out, "%s%llx-%llx%s%s", i ? " | " : "",
			(unsigned long long)(fde->addr - base),
			(unsigned long long)(fde->addr - base + fde->size),
			fde->flags & SFJIT_FUNCTION_SIGNAL ? " signal" : "",
			fde->flags & SFJIT_FUNCTION_PAUTH_KEY_B ?
			" key B" : "");
		if (fde->repeat)
			fprintf(out, " every %u", fde->repeat);
		for (k = 0; k < fde->nr_rows; k++) {
			format_row(abi, &fde->rows[k], text);
			fprintf(out, "%s %x %s", k ? "," : ":",
				fde->rows[k].start, text);
		}
	}
}

static inline void print_reasons(FILE *out, const struct sfg_summary *sum)
{
	unsigned int i;

	for (i = 1; i < SFG_R_MAX; i++)
		if (sum->affected[i])
			fprintf(out, " !%llu %s",
				(unsigned long long)sum->bytes[i],
				sfg_reason_text(i));
}

/* A section of 4,000 FDEs that all name the same 60,000 rows. */
static inline uint8_t *make_shared_rows(size_t *len)
{
	enum { FDES = 4000, ROWS = 60000 };
	static const uint8_t start[] = {
		0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0,
	};
	size_t index = sizeof(struct sframe_header) +
		       sizeof(struct sframe_fde) * FDES, i;
	struct bytes *b = calloc(1, sizeof(*b));
	uint8_t *p;

	*len = index + 5 + ROWS * 5;
	p = calloc(1, *len);
	put(b, start, sizeof(start));
	put_int(b, FDES, 4);
	put_int(b, ROWS, 4);
	put_int(b, *len - index, 4);
	put_int(b, 0, 4);
	put_int(b, index - b->len - 4, 4);
	for (i = 0; i < FDES; i++) {
		put_int(b, i << 20, 8);
		put_int(b, 1 << 17, 4);
		put_int(b, 0, 4);
	}
	memcpy(p, b->p, b->len);
	memcpy(p + index, "\x60\xea\x02\x00\x00", 5);
	for (i = 0; i < ROWS; i++)
		memcpy(p + index + 5 + i * 5,
		       (uint8_t[4]){ i, i >> 8, i >> 16 }, 4);
	free(b);
	return p;
}

#endif /* SFRAMEGEN_TEST_H */
