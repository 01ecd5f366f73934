// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * .eh_frame for a window of equal slots. CFI has no repetition, but a CFA
 * expression may look at the pc: with x = pc & (slot - 1)
 *
 *	CFA = sp + first + (x >= start of row n) * change by row n + ...
 *
 * as linkers describe their PLTs, and likewise for the frame pointer.
 */
#include "cfi_out.h"
#include "core.h"

/* Leaves x on the stack. */
static void pc_in_slot(struct out *o, const struct sfg_arch *arch,
		       unsigned int slot)
{
	put_breg(o, arch->pc, 0);
	put_constant(o, slot - 1);
	put_byte(o, DW_OP_and);
}

/*
 * x, sum -> x, sum + (x >= start) * change
 *
 * A comparison gives 0 or 1, so multiplying avoids a branch.
 */
static void add_change(struct out *o, unsigned int start, int64_t change)
{
	put_byte(o, DW_OP_over);
	put_constant(o, start);
	put_byte(o, DW_OP_ge);
	put_constant(o, change);
	put_byte(o, DW_OP_mul);
	put_byte(o, DW_OP_plus);
}

static void cfa_expression(struct out *o, const struct sfg_arch *arch,
			   const struct sfjit_function *fde, unsigned int slot)
{
	uint32_t i;

	pc_in_slot(o, arch, slot);
	put_breg(o, arch->sp, fde->rows[0].cfa.offset);
	for (i = 1; i < fde->nr_rows; i++)
		if (fde->rows[i].cfa.offset != fde->rows[i - 1].cfa.offset)
			add_change(o, fde->rows[i].start,
				   (int64_t)fde->rows[i].cfa.offset -
				   fde->rows[i - 1].cfa.offset);
	put_byte(o, DW_OP_swap);
	put_byte(o, DW_OP_drop);
}

/* The one stretch of a slot with a saved frame pointer. */
struct saved {
	uint32_t from, to;	/* from == to: none */
	int32_t offset;
};

static bool find_saved(const struct sfjit_function *fde, unsigned int slot,
		       struct saved *saved)
{
	unsigned int stretches = 0;
	uint32_t i;

	memset(saved, 0, sizeof(*saved));
	for (i = 0; i < fde->nr_rows; i++) {
		const struct sfjit_rule *fp = &fde->rows[i].fp;

		if (!fp->base)
			continue;
		if (stretches && (saved->to != fde->rows[i].start ||
				  saved->offset != fp->offset))
			return false;
		if (!stretches++)
			saved->from = fde->rows[i].start;
		saved->offset = fp->offset;
		saved->to = i + 1 < fde->nr_rows ? fde->rows[i + 1].start :
						   slot;
	}
	return true;
}

/* The CFA is on the stack: x in the stretch ? [CFA + offset] : fp */
static void fp_expression(struct out *o, const struct sfg_arch *arch,
			  const struct saved *saved, unsigned int slot)
{
	pc_in_slot(o, arch, slot);
	put_byte(o, DW_OP_dup);
	put_constant(o, saved->from);
	put_byte(o, DW_OP_ge);
	put_byte(o, DW_OP_swap);
	put_constant(o, saved->to);
	put_byte(o, DW_OP_lt);
	put_byte(o, DW_OP_and);
	put_byte(o, DW_OP_bra);
	put_fixed(o, 5, 2);		/* over the next two operations */
	put_breg(o, arch->fp, 0);
	put_byte(o, DW_OP_skip);
	put_fixed(o, 0, 2);		/* patched: over the rest */
}

/* At most 8 bytes, so the distance's upper byte stays 0. */
static void fp_saved_branch(struct out *o, const struct saved *saved)
{
	size_t skip = o->len - 2;

	put_constant(o, saved->offset);
	put_byte(o, DW_OP_plus);
	put_byte(o, DW_OP_deref);
	if (!o->bad)
		o->p[skip] = o->len - skip - 2;
}

static bool rows_are_simple(const struct sfg_arch *arch,
			    const struct sfjit_function *fde)
{
	const struct sfjit_row *row = fde->rows, *end = row + fde->nr_rows;

	for (; row != end; row++)
		if (row->flags & ~SFJIT_ROW_RBX || row->cfa.deref || row->ra.base ||
		    row->cfa.reg != arch->sp ||
		    (row->fp.base &&
		     (row->fp.base != SFJIT_BASE_CFA || !row->fp.deref)))
			return false;
	return fde->nr_rows > 0;
}

static void write_rules(struct out *o, const struct sfg_arch *arch,
			const struct sfjit_function *fde, unsigned int slot,
			const struct saved *saved)
{
	uint8_t buf[256];
	struct out expr = { .p = buf, .max = sizeof(buf) };

	cfa_expression(&expr, arch, fde, slot);
	put_byte(o, DW_CFA_def_cfa_expression);
	put_expr(o, &expr);
	if (saved->from == saved->to)
		return;
	expr.len = 0;
	fp_expression(&expr, arch, saved, slot);
	fp_saved_branch(&expr, saved);
	put_byte(o, DW_CFA_val_expression);
	put_uleb(o, arch->fp);
	put_expr(o, &expr);
}

static int write_records(struct out *o, const struct sfg_arch *arch,
			 const struct sfjit_function *fde, unsigned int slot,
			 struct sfg_window_cfi *cfi)
{
	struct saved saved;
	size_t start;

	if (!find_saved(fde, slot, &saved))
		return -ENOTSUP;
	/* Absolute, so that the window's address is stored as it is. */
	put_cie(o, arch, DW_EH_PE_absptr, 0);
	start = o->len;
	put_fixed(o, 0, 4);		/* length, patched */
	put_fixed(o, start + 4, 4);	/* back to the CIE */
	cfi->start_off = o->len;
	put_fixed(o, 0, 8);		/* address and size of the window */
	put_fixed(o, 0, 8);
	cfi->size_off = cfi->start_off + 8;
	put_uleb(o, 0);
	write_rules(o, arch, fde, slot, &saved);
	put_padding(o, start);
	put_fixed(o, 0, 4);
	cfi->len = o->len;
	return o->bad ? -ENOTSUP : 0;
}

int sfg_make_window_cfi(unsigned int abi, const struct sfjit_function *function,
			unsigned int slot, struct sfg_window_cfi *cfi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);
	struct sfg_window_cfi made;
	struct out o = { .p = made.data, .max = sizeof(made.data) };
	int ret;

	/* only AMD64 lets an expression see the pc */
	if (!arch || arch->pc == NO_REG || !rows_are_simple(arch, function))
		return -ENOTSUP;
	ret = write_records(&o, arch, function, slot, &made);
	if (!ret)
		*cfi = made;
	return ret;
}
