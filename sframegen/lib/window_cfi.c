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
#include "core.h"
#include "dwarf_cfi.h"

struct out {
	uint8_t *p;
	size_t len, max;
	bool bad;
};

static void byte(struct out *o, unsigned int v)
{
	if (o->len < o->max)
		o->p[o->len++] = v;
	else
		o->bad = true;
}

/* Little-endian, as is the one ABI that gets here. */
static void fixed(struct out *o, uint64_t v, unsigned int len)
{
	for (; len; len--, v >>= 8)
		byte(o, v & 0xff);
}

static void uleb(struct out *o, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		byte(o, 0x80 | (v & 0x7f));
	byte(o, v);
}

static void sleb(struct out *o, int64_t v)
{
	for (; v < -0x40 || v > 0x3f; v >>= 7)
		byte(o, 0x80 | (v & 0x7f));
	byte(o, v & 0x7f);
}

static void constant(struct out *o, int64_t v)
{
	if (v >= 0 && v < 32) {
		byte(o, DW_OP_lit0 + v);
	} else {
		byte(o, DW_OP_consts);
		sleb(o, v);
	}
}

static void breg(struct out *o, unsigned int reg, int64_t offset)
{
	byte(o, DW_OP_breg0 + reg);
	sleb(o, offset);
}

/* Leaves x on the stack. */
static void pc_in_slot(struct out *o, const struct sfg_arch *arch,
		       unsigned int slot)
{
	breg(o, arch->pc, 0);
	constant(o, slot - 1);
	byte(o, DW_OP_and);
}

/*
 * x, sum -> x, sum + (x >= start) * change
 *
 * A comparison leaves 0 or 1, so a product does without a branch.
 */
static void add_change(struct out *o, unsigned int start, int64_t change)
{
	byte(o, DW_OP_over);
	constant(o, start);
	byte(o, DW_OP_ge);
	constant(o, change);
	byte(o, DW_OP_mul);
	byte(o, DW_OP_plus);
}

static void cfa_expression(struct out *o, const struct sfg_arch *arch,
			   const struct sfjit_function *fde, unsigned int slot)
{
	uint32_t i;

	pc_in_slot(o, arch, slot);
	breg(o, arch->sp, fde->rows[0].cfa.offset);
	for (i = 1; i < fde->nr_rows; i++)
		if (fde->rows[i].cfa.offset != fde->rows[i - 1].cfa.offset)
			add_change(o, fde->rows[i].start,
				   (int64_t)fde->rows[i].cfa.offset -
				   fde->rows[i - 1].cfa.offset);
	byte(o, DW_OP_swap);
	byte(o, DW_OP_drop);
}

/* The one stretch of a slot in which the frame pointer is saved. */
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
	byte(o, DW_OP_dup);
	constant(o, saved->from);
	byte(o, DW_OP_ge);
	byte(o, DW_OP_swap);
	constant(o, saved->to);
	byte(o, DW_OP_lt);
	byte(o, DW_OP_and);
	byte(o, DW_OP_bra);
	fixed(o, 5, 2);		/* over the next two operations */
	breg(o, arch->fp, 0);
	byte(o, DW_OP_skip);
	fixed(o, 0, 2);		/* patched: over the rest */
}

/* At most 8 bytes: the upper byte of the distance stays 0. */
static void fp_saved_branch(struct out *o, const struct saved *saved)
{
	size_t skip = o->len - 2;

	constant(o, saved->offset);
	byte(o, DW_OP_plus);
	byte(o, DW_OP_deref);
	if (!o->bad)
		o->p[skip] = o->len - skip - 2;
}

static void block(struct out *o, const struct out *expr)
{
	size_t i;

	uleb(o, expr->len);
	for (i = 0; i < expr->len; i++)
		byte(o, expr->p[i]);
	o->bad |= expr->bad;
}

static bool rows_are_simple(const struct sfg_arch *arch,
			    const struct sfjit_function *fde)
{
	const struct sfjit_row *row = fde->rows, *end = row + fde->nr_rows;

	for (; row != end; row++)
		if (row->flags || row->cfa.deref || row->ra.base ||
		    row->cfa.reg != arch->sp ||
		    (row->fp.base &&
		     (row->fp.base != SFJIT_BASE_CFA || !row->fp.deref)))
			return false;
	return fde->nr_rows > 0;
}

/*
 * The length does not count its own 4 bytes. nops let the next record begin at
 * a multiple of the size of an address.
 */
static void pad_record(struct out *o, size_t start)
{
	size_t len;

	while (o->len % 8)
		byte(o, DW_CFA_nop);
	len = o->len - start - 4;
	if (!o->bad)
		memcpy(o->p + start, &(uint32_t){ len }, 4);
}

/*
 * As compilers write it for AMD64: on entry the CFA is rsp + 8 and the return
 * address is at CFA - 8, 1 in units of the data alignment. Pointers are
 * absolute, so that the window's is stored as it is.
 */
static void write_cie(struct out *o, const struct sfg_arch *arch)
{
	fixed(o, 0, 8);			/* length (patched), id */
	byte(o, 1);			/* version */
	byte(o, 'z');
	byte(o, 'R');
	byte(o, 0);
	uleb(o, 1);			/* code alignment */
	sleb(o, -8);			/* data alignment */
	byte(o, arch->ra);
	uleb(o, 1);
	byte(o, DW_EH_PE_absptr);
	byte(o, DW_CFA_def_cfa);
	uleb(o, arch->sp);
	uleb(o, -arch->fixed_ra);
	byte(o, DW_CFA_offset + arch->ra);
	uleb(o, -arch->fixed_ra / 8);
	pad_record(o, 0);
}

static void write_rules(struct out *o, const struct sfg_arch *arch,
			const struct sfjit_function *fde, unsigned int slot,
			const struct saved *saved)
{
	uint8_t buf[256];
	struct out expr = { .p = buf, .max = sizeof(buf) };

	cfa_expression(&expr, arch, fde, slot);
	byte(o, DW_CFA_def_cfa_expression);
	block(o, &expr);
	if (saved->from == saved->to)
		return;
	expr.len = 0;
	fp_expression(&expr, arch, saved, slot);
	fp_saved_branch(&expr, saved);
	byte(o, DW_CFA_val_expression);
	uleb(o, arch->fp);
	block(o, &expr);
}

static int write_records(struct out *o, const struct sfg_arch *arch,
			 const struct sfjit_function *fde, unsigned int slot,
			 struct sfg_window_cfi *cfi)
{
	struct saved saved;
	size_t start;

	if (!find_saved(fde, slot, &saved))
		return -ENOTSUP;
	write_cie(o, arch);
	start = o->len;
	fixed(o, 0, 4);		/* length, patched */
	fixed(o, start + 4, 4);	/* back to the CIE */
	cfi->start_off = o->len;
	fixed(o, 0, 16);		/* address and size of the window */
	cfi->size_off = cfi->start_off + 8;
	uleb(o, 0);
	write_rules(o, arch, fde, slot, &saved);
	pad_record(o, start);
	fixed(o, 0, 4);
	cfi->len = o->len;
	return o->bad ? -ENOTSUP : 0;
}

int sfg_make_window_cfi(unsigned int abi, const struct sfjit_function *function,
			unsigned int slot, struct sfg_window_cfi *cfi)
{
	const struct sfg_arch *arch = sfg_arch_by_abi(abi);
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
