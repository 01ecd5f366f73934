// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* --dump: a section as text. */
#include <inttypes.h>
#include <stdlib.h>

#include "commands.h"
#include "object.h"

static void print_header(const struct sfg_section *s)
{
	printf("SFrame version %u, ABI %s, flags 0x%x, fixed RA %d\n",
	       s->header.version, sfg_abi_name(s->header.abi_arch), s->header.flags,
	       s->header.cfa_fixed_ra_offset);
	printf("%u FDEs, %u FREs, %u bytes of FREs\n", s->header.num_fdes,
	       s->header.num_fres, s->header.fre_len);
}

static void print_fde(uint32_t index, const struct sfg_row_reader *r,
		      bool known)
{
	printf("\nFDE %u: ", index);
	if (known)
		printf("0x%" PRIx64 "-0x%" PRIx64, r->fde.addr,
		       r->fde.addr + r->fde.size);
	else
		printf("address not resolved, 0x%" PRIx32 " bytes",
		       r->fde.size);
	printf(" %u rows%s", r->fde.nr_rows, r->flex ? " FLEX" : "");
	if (r->fde.repeat)
		printf(" PCMASK %u", r->fde.repeat);
	if (r->fde.flags & SFJIT_FUNCTION_SIGNAL)
		printf(" signal");
	if (r->fde.flags & SFJIT_FUNCTION_PAUTH_KEY_B)
		printf(" key B");
	putchar('\n');
}

/* A repeating FDE's rows are for each block, so they have no single address. */
static void print_row(const struct sfg_row_reader *r,
		      const struct sfjit_row *row, bool known)
{
	uint64_t base = r->fde.repeat || !known ? 0 : r->fde.addr;
	char text[ROW_TEXT_MAX];

	format_row(r->section->header.abi_arch, row, text);
	printf("  0x%" PRIx64 ": %s\n", base + row->start, text);
}

/* The section was checked: nothing fails here. */
static void print_section(const struct sfg_section *s,
			  const struct object_part *part)
{
	struct sfg_row_reader r;
	struct sfjit_row row;
	bool known;
	uint32_t i;

	print_header(s);
	for (i = 0; i < s->header.num_fdes; i++) {
		if (sfg_read_fde(s, i, &r, NULL))
			return;
		known = object_knows_fde(part, s, i);
		print_fde(i, &r, known);
		while (!sfg_read_row(&r, &row, NULL))
			print_row(&r, &row, known);
	}
}

/*
 * Check the whole section before you print: half a dump looks like a whole one.
 */
static int dump_part(struct object *f, const struct object_part *part)
{
	struct sfg_section s;
	struct sfg_error err;
	int ret = sfg_open_section(&s, part->image.data, part->image.len,
				   part->image.addr, &err);

	if (!ret)
		ret = sfg_check_section(&s, &err);
	if (ret)
		return object_error(f, part->file_offset + err.offset, ret,
				    "%s", err.reason);
	print_section(&s, part);
	return 0;
}

/* A table that repeats has rows for each block, so they have no single address. */
static void print_stretch(const struct sfg_packed *t,
			  const struct sfjit_function *fde,
			  const struct sfjit_row *row)
{
	char text[ROW_TEXT_MAX] = "signal frame";

	if (fde->nr_rows)
		format_row(t->header.abi_arch, row, text);
	if (fde->repeat)
		printf("  0x%" PRIx32 ": %s", row->start, text);
	else
		printf("0x%" PRIx64 "-0x%" PRIx64 ": %s", fde->addr,
		       fde->addr + fde->size, text);
	printf("%s%s\n", fde->nr_rows && fde->flags & SFJIT_FUNCTION_SIGNAL ?
	       " exact" : "", fde->flags & SFJIT_FUNCTION_PAUTH_KEY_B ?
	       " key B" : "");
}

static void print_packed(const struct sfg_packed *t)
{
	struct sfjit_function fde;
	struct sfjit_row row;
	uint64_t at = 0;

	printf("packed table version %u, ABI %s, text 0x%" PRIx64 "-0x%" PRIx64,
	       t->header.version, sfg_abi_name(t->header.abi_arch),
	       t->header.text_start,
	       t->header.text_start + t->header.text_length);
	if (t->header.repeat)
		printf(", repeats %u", t->header.repeat);
	printf("\n%u rules, %" PRIu32 " buckets, %" PRIu32
	       " bytes of blocks\n\n", t->header.nr_rules, t->nr_buckets,
	       t->header.blocks_len);
	while (!sfg_next_packed_row(t, &at, &fde, &row, NULL))
		print_stretch(t, &fde, &row);
}

static int dump_packed(struct object *f, const struct object_part *part)
{
	struct sfg_packed t;
	struct sfg_error err;
	int ret = sfg_open_packed(&t, part->image.data, part->image.len, &err);

	if (!ret)
		ret = sfg_check_packed(&t, &err);
	if (ret)
		return object_error(f, err.offset, ret, "%s", err.reason);
	print_packed(&t);
	return 0;
}

static int dump_elf(const struct options *opts)
{
	struct object f;
	int ret = object_open(&f, opts->input);

	if (!ret)
		ret = object_read_sframe(&f);
	if (!ret)
		ret = dump_part(&f, &f.sframe);
	object_close(&f);
	return ret;
}

/*
 * FDEs are relative to their own fields, so the user must give the address of a
 * section outside a file.
 */
static int dump_bytes(const struct options *opts,
		      int (*dump)(struct object *, const struct object_part *))
{
	struct object f = { .path = opts->input };
	struct object_part part = { .image.addr = opts->at };
	int ret = file_read_whole(opts->input, &part.bytes, &part.image.len);

	part.image.data = part.bytes;
	if (!ret)
		ret = dump(&f, &part);
	free(part.bytes);
	return ret;
}

/*
 * An ELF file begins with 7f 45, a packed table with 53 50 or 50 53, a section with
 * e2 de or de e2.
 */
int command_dump(const struct options *opts)
{
	static const char *const packed[] = { "SP", "PS" };
	int ret = file_begins_with(opts->input, ELFMAG, SELFMAG);
	unsigned int i;

	if (ret)
		return ret < 0 ? ret : dump_elf(opts);
	for (i = 0; i < 2 && !ret; i++)
		ret = file_begins_with(opts->input, packed[i], 2);
	return ret < 0 ? ret : dump_bytes(opts, ret ? dump_packed : dump_part);
}
