// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Converts rows to .eh_frame followed by .eh_frame_hdr, for unwinders without
 * SFrame, such as perf's --call-graph=dwarf, which reads it from a jitdump.
 */
#include "cfi_out.h"

#define HDR_SIZE	20

/* Any of these has at most 32 bytes. */
#define EXPR_MAX	32

/*
 * Base plus offset. An expression of a register starts with the CFA on the
 * stack.
 */
static void put_address(struct out *o, const struct sfjit_rule *rule)
{
	if (rule->base == SFJIT_BASE_REG) {
		put_breg(o, rule->reg, rule->offset);
	} else {
		put_constant(o, rule->offset);
		put_byte(o, DW_OP_plus);
	}
}

static void put_cfa(struct out *o, const struct sfjit_rule *cfa)
{
	uint8_t buf[EXPR_MAX];
	struct out expr = { .p = buf, .max = sizeof(buf) };

	if (!cfa->deref && cfa->offset >= 0) {
		put_byte(o, DW_CFA_def_cfa);
		put_uleb(o, cfa->reg);
		put_uleb(o, cfa->offset);
		return;
	}
	put_address(&expr, cfa);
	if (cfa->deref)
		put_byte(&expr, DW_OP_deref);
	if (cfa->addend) {
		put_constant(&expr, cfa->addend);
		put_byte(&expr, DW_OP_plus);
	}
	put_byte(o, DW_CFA_def_cfa_expression);
	put_expr(o, &expr);
}

/* In units of the data alignment. */
static void put_saved(struct out *o, unsigned int reg, int32_t offset)
{
	if (reg < 64 && offset >= 0) {
		put_byte(o, DW_CFA_offset + reg);
		put_uleb(o, offset);
	} else {
		put_byte(o, DW_CFA_offset_extended_sf);
		put_uleb(o, reg);
		put_sleb(o, offset);
	}
}

static void put_same_value(struct out *o, unsigned int reg)
{
	put_byte(o, DW_CFA_same_value);
	put_uleb(o, reg);
}

static void put_reg(struct out *o, unsigned int reg,
		    const struct sfjit_rule *rule)
{
	uint8_t buf[EXPR_MAX];
	struct out expr = { .p = buf, .max = sizeof(buf) };

	/* The short forms, for where compilers save registers. */
	if (rule->base == SFJIT_BASE_CFA && rule->deref &&
	    rule->offset % 8 == 0) {
		put_saved(o, reg, rule->offset / -8);
		return;
	}
	put_address(&expr, rule);
	put_byte(o, rule->deref ? DW_CFA_expression : DW_CFA_val_expression);
	put_uleb(o, reg);
	put_expr(o, &expr);
}

/* Writes all rules again: no row depends on another. */
static void put_row(struct out *o, const struct sfg_arch *arch,
		    const struct sfjit_row *row)
{
	if (row->flags & SFJIT_ROW_OUTERMOST) {
		/* An unwinder stops here, whatever the CFA is. */
		put_byte(o, DW_CFA_undefined);
		put_uleb(o, arch->ra);
		return;
	}
	put_cfa(o, &row->cfa);
	if (row->ra.base)
		put_reg(o, arch->ra, &row->ra);
	else if (arch->fixed_ra)
		put_saved(o, arch->ra, arch->fixed_ra / -8);
	else
		put_same_value(o, arch->ra);
	if (row->fp.base)
		put_reg(o, arch->fp, &row->fp);
	else
		put_same_value(o, arch->fp);
}

/* AArch64's instruction toggles the state. */
static void put_mangled(struct out *o, const struct sfjit_row *row,
			bool *mangled)
{
	bool now = row->flags & SFJIT_ROW_MANGLED_RA;

	if (now != *mangled)
		put_byte(o, DW_CFA_AARCH64_negate_ra_state);
	*mangled = now;
}

static void put_advance(struct out *o, uint32_t bytes)
{
	if (bytes < 64) {
		put_byte(o, DW_CFA_advance_loc + bytes);
	} else {
		put_byte(o, DW_CFA_advance_loc4);
		put_fixed(o, bytes, 4);
	}
}

/* Repeating code has its rows again in each block. */
static void put_rows(struct out *o, const struct sfg_arch *arch,
		     const struct sfjit_function *function)
{
	uint32_t block = function->repeat ? function->repeat : function->size;
	uint64_t start, at = 0, begin = 0;
	bool mangled = false;
	uint32_t i;

	for (; begin < function->size; begin += block) {
		for (i = 0; i < function->nr_rows; i++) {
			start = begin + function->rows[i].start;
			if (start >= function->size)
				break;
			if (start != at)
				put_advance(o, start - at);
			at = start;
			put_row(o, arch, &function->rows[i]);
			put_mangled(o, &function->rows[i], &mangled);
		}
	}
}

/* @distance: from the code to the first byte here */
static size_t put_eh_frame(struct out *o, const struct sfg_arch *arch,
			   const struct sfjit_function *function,
			   uint64_t distance)
{
	size_t fde;

	put_cie(o, arch, DW_EH_PE_pcrel | DW_EH_PE_sdata4, function->flags);
	fde = o->len;
	put_fixed(o, 0, 4);		/* length, patched */
	put_fixed(o, fde + 4, 4);	/* back to the CIE */
	put_fixed(o, -(distance + o->len), 4);
	put_fixed(o, function->size, 4);
	put_uleb(o, 0);
	put_rows(o, arch, function);
	put_padding(o, fde);
	put_fixed(o, 0, 4);
	return fde;
}

/* With a search table of one FDE. */
static void put_hdr(struct out *o, size_t fde, uint64_t distance)
{
	size_t start = o->len;

	put_byte(o, 1);			/* version */
	put_byte(o, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	put_byte(o, DW_EH_PE_udata4);
	put_byte(o, DW_EH_PE_datarel | DW_EH_PE_sdata4);
	put_fixed(o, -(uint64_t)o->len, 4);
	put_fixed(o, 1, 4);
	put_fixed(o, -(distance + start), 4);
	put_fixed(o, fde - start, 4);
}

int sfg_write_cfi(unsigned int abi, const struct sfjit_function *function,
		  uint64_t distance, uint8_t *buf, size_t len, size_t *used,
		  size_t *hdr_size)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);
	struct out o = { .p = buf, .max = len };
	size_t fde;

	if (!arch)
		return -ENOTSUP;
	/* All distances here have 32 bits. */
	if (distance > INT32_MAX)
		return -E2BIG;
	fde = put_eh_frame(&o, arch, function, distance);
	put_hdr(&o, fde, distance);
	if (distance + o.len > INT32_MAX)
		return -E2BIG;
	*used = o.len;
	*hdr_size = HDR_SIZE;
	return o.bad ? -ENOSPC : 0;
}

int sfg_make_slot_cfi(unsigned int abi, const struct sfjit_function *function,
		      struct sfg_window_cfi *cfi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);
	struct out o = { .p = cfi->data, .max = sizeof(cfi->data) };
	size_t fde;

	if (!arch)
		return -ENOTSUP;
	/* Absolute, so that the slot's address is stored as it is. */
	put_cie(&o, arch, DW_EH_PE_absptr, function->flags);
	fde = o.len;
	put_fixed(&o, 0, 4);		/* length, patched */
	put_fixed(&o, fde + 4, 4);	/* back to the CIE */
	cfi->start_off = o.len;
	put_fixed(&o, 0, 8);
	cfi->size_off = o.len;
	put_fixed(&o, function->size, 8);
	put_uleb(&o, 0);
	put_rows(&o, arch, function);
	put_padding(&o, fde);
	put_fixed(&o, 0, 4);
	cfi->len = o.len;
	return o.bad ? -E2BIG : 0;
}
