/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* What the commands take from an ELF file. */
#ifndef SFRAMEGEN_ELF_FILE_H
#define SFRAMEGEN_ELF_FILE_H

#include <gelf.h>

#include "core.h"

/* Bytes of a file, and where they are in it. */
struct elf_part {
	struct sfg_image image;
	uint64_t file_offset;
	uint8_t *relocated;	/* owned copy behind image.data, or NULL */
};

struct elf_symbol {
	const char *name;	/* borrowed from the file */
	uint64_t addr, size;
};

struct elf_file {
	const char *path;
	uint8_t *data;		/* the whole file */
	size_t len;
	Elf *elf;
	GElf_Ehdr ehdr;
	unsigned int abi;
	uint64_t *section_addr;	/* ET_REL: where a section is taken to be */
	size_t nr_sections;

	struct sfg_image *text;
	size_t nr_text;
	struct elf_part cfi;
	unsigned int cfi_flags;	/* SFG_INPUT_* */
	struct elf_part sframe;	/* image.data NULL: has none */
	uint64_t eh_frame_hdr_len;

	struct elf_symbol *functions;	/* by address; see elf_read_symbols */
	size_t nr_functions;
};

/* All print their message and return -errno; elf_close() always works. */
int elf_open(struct elf_file *f, const char *path);
/* Text and CFI. */
int elf_read_cfi(struct elf_file *f);
int elf_read_sframe(struct elf_file *f);
int elf_read_symbols(struct elf_file *f);
/* Whether a relocation of an object file changes [addr, addr + size). */
bool elf_is_relocated(struct elf_file *f, uint64_t addr, uint64_t size);
void elf_close(struct elf_file *f);

/* Function at an address, else NULL. */
const struct elf_symbol *elf_find_function(const struct elf_file *f,
					   uint64_t addr);

/* "sframegen: FILE: 0xOFFSET: reason"; returns code. */
int elf_error(const struct elf_file *f, uint64_t offset, int code,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Between the files elf_*.c. */
bool elf_in_file(const struct elf_file *f, uint64_t offset, uint64_t len);
bool elf_get_section(struct elf_file *f, size_t index, GElf_Shdr *shdr);
/* NULL: no such section, not of this type, or not all in the file. */
Elf_Data *elf_section_data(struct elf_file *f, size_t index, uint32_t type);
/* Of a string table; "": it has none at this offset. */
const char *elf_string(struct elf_file *f, size_t index, uint64_t offset);
/* Makes a copy of the part and applies what section 'target' needs. */
int elf_relocate(struct elf_file *f, struct elf_part *part, size_t target);
int elf_no_memory(const struct elf_file *f);

int read_whole_file(const char *path, uint8_t **data, size_t *len);
int write_file(const char *path, const void *data, size_t len);
int path_error(const char *path, int code);

static inline struct sfg_input elf_input(const struct elf_file *f)
{
	return (struct sfg_input) {
		.abi = f->abi, .flags = f->cfi_flags, .cfi = f->cfi.image,
		.text = f->text, .nr_text = f->nr_text,
	};
}

#endif /* SFRAMEGEN_ELF_FILE_H */
