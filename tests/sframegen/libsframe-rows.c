// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * libsframe-rows SECTION: binutils' libsframe finds, at the first and the
 * last byte of every row and at the ends of every FDE, the row that our
 * reader finds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle-section.h"

/* Last: it has an sframe_header of its own, under names of its own. */
#define sframe_header binutils_sframe_header
#undef SFRAME_MAGIC
#undef SFRAME_VERSION_3
#undef SFRAME_F_FDE_SORTED
#undef SFRAME_F_FDE_FUNC_START_PCREL
#include <sframe-api.h>

static unsigned long rows, probes, bad;

static void report(uint64_t pc, const char *what)
{
	if (bad++ < 10)
		printf("0x%llx: %s\n", (unsigned long long)pc, what);
}

/* Data word i, with its sign or (control words) without. */
static int32_t word(const sframe_frame_row_entry *fre, unsigned int i,
		    bool sign)
{
	const unsigned char *p = fre->fre_datawords;
	int16_t half;
	int32_t full;

	switch (fre->fre_info >> 5 & 3) {
	case 0:
		return sign ? (int8_t)p[i] : p[i];
	case 1:
		memcpy(&half, p + 2 * i, 2);
		return sign ? half : (uint16_t)half;
	default:
		memcpy(&full, p + 4 * i, 4);
		return full;
	}
}

static struct sfjit_rule flex_rule(const sframe_frame_row_entry *fre,
				 unsigned int i)
{
	uint32_t control = word(fre, i, false);

	return (struct sfjit_rule) {
		.offset = word(fre, i + 1, true),
		.reg = control >> 3,
		.deref = control >> 1 & 1,
		.base = control & 1 ? SFJIT_BASE_REG : SFJIT_BASE_CFA,
	};
}

static struct sfjit_rule slot_rule(int32_t offset)
{
	return (struct sfjit_rule) {
		.offset = offset, .base = SFJIT_BASE_CFA, .deref = 1,
	};
}

static void flex_row(const sframe_frame_row_entry *fre, struct sfjit_row *row)
{
	unsigned int nr = fre->fre_info >> 1 & 15;

	row->cfa = flex_rule(fre, 0);
	if (nr == 5)
		row->fp = flex_rule(fre, 3);
	if (nr == 4 || nr == 6)
		row->ra = flex_rule(fre, 2);
	if (nr == 6)
		row->fp = flex_rule(fre, 4);
}

/* By libsframe's own functions where it has them. */
static void default_row(const sframe_decoder_ctx *ctx,
			const sframe_frame_row_entry *fre,
			struct sfjit_row *row)
{
	int err = 0;
	int32_t fp;

	row->cfa.base = SFJIT_BASE_REG;
	row->cfa.reg = sframe_fre_get_base_reg_id(fre, &err) ? 7 : 6;
	row->cfa.offset = sframe_fre_get_cfa_offset(ctx, fre, 0, &err);
	if (err)
		row->flags = ~0u;
	fp = sframe_fre_get_fp_offset(ctx, fre, 0, &err);
	if (!err)
		row->fp = slot_rule(fp);
}

static void decode(const sframe_decoder_ctx *ctx,
		   const sframe_frame_row_entry *fre, bool flex,
		   struct sfjit_row *row)
{
	int err = 0;

	memset(row, 0, sizeof(*row));
	row->start = fre->fre_start_addr;
	if (sframe_fre_get_ra_undefined_p(ctx, fre, &err))
		row->flags = SFJIT_ROW_OUTERMOST;
	else if (flex)
		flex_row(fre, row);
	else
		default_row(ctx, fre, row);
}

static void probe(const sframe_decoder_ctx *ctx, uint64_t pc, bool flex,
		  const struct sfjit_row *want)
{
	sframe_frame_row_entry fre;
	struct sfjit_row got;

	probes++;
	memset(&fre, 0, sizeof(fre));
	if (sframe_find_fre(ctx, pc, &fre)) {
		report(pc, "libsframe finds no row");
		return;
	}
	decode(ctx, &fre, flex, &got);
	if (memcmp(&got, want, sizeof(got)))
		report(pc, "libsframe finds another row");
}

static void probe_nothing(const sframe_decoder_ctx *ctx, uint64_t pc)
{
	sframe_frame_row_entry fre;

	probes++;
	if (!sframe_find_fre(ctx, pc, &fre))
		report(pc, "libsframe finds a row where there is none");
}

static void check_fde(const sframe_decoder_ctx *ctx,
		      struct sfg_row_reader *r)
{
	struct sfjit_row row, next;
	uint64_t end = r->fde.repeat ? r->fde.repeat : r->fde.size;
	bool more;

	if (sfg_read_row(r, &row, NULL)) {
		probe_nothing(ctx, r->fde.addr);
		return;
	}
	do {
		more = !sfg_read_row(r, &next, NULL);
		probe(ctx, r->fde.addr + row.start, r->flex, &row);
		probe(ctx, r->fde.addr + (more ? next.start : end) - 1,
		      r->flex, &row);
		if (r->fde.repeat && r->fde.size > 2 * end)
			probe(ctx, r->fde.addr + end + row.start, r->flex,
			      &row);
		row = next;
		rows++;
	} while (more);
}

static void check_index(const sframe_decoder_ctx *ctx, uint32_t i,
			const struct sfjit_function *fde)
{
	uint32_t nr, size;
	int64_t start;
	unsigned char info, info2;
	uint8_t rep;
	int err = 0;
	uint32_t field = sframe_decoder_get_offsetof_fde_start_addr(ctx, i,
								    &err);

	if (sframe_decoder_get_funcdesc_v3(ctx, i, &nr, &size, &start, &info,
					   &info2, &rep) || err ||
	    field + (uint64_t)start != fde->addr || size != fde->size ||
	    nr != fde->nr_rows || rep != fde->repeat)
		report(fde->addr, "libsframe reads another FDE");
}

static void check_section(const struct sfg_section *s,
			  const sframe_decoder_ctx *ctx)
{
	struct sfg_row_reader r;
	uint64_t end = 0;
	uint32_t i;

	if (sframe_decoder_get_num_fidx(ctx) != s->header.num_fdes)
		report(0, "libsframe counts other FDEs");
	for (i = 0; i < s->header.num_fdes; i++) {
		sfg_read_fde(s, i, &r, NULL);
		check_index(ctx, i, &r.fde);
		if (end && r.fde.addr > end)
			probe_nothing(ctx, end);
		end = r.fde.addr + r.fde.size;
		check_fde(ctx, &r);
	}
	probe_nothing(ctx, end);
}

int main(int argc, char **argv)
{
	sframe_decoder_ctx *ctx;
	struct sfg_section s;
	int err = 0;

	if (argc != 2)
		return 2;
	if (!load_section(argv[1], &s))
		return 1;
	ctx = sframe_decode((const char *)s.data, s.len, &err);
	if (!ctx) {
		printf("libsframe refuses the section: %d\n", err);
		return 1;
	}
	check_section(&s, ctx);
	printf("%lu rows, %lu addresses equal\n", rows, probes - bad);
	sframe_decoder_free(&ctx);
	free((void *)s.data);
	return bad != 0;
}
