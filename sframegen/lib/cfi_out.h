/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Writes call frame information. */
#ifndef SFRAMEGEN_CFI_OUT_H
#define SFRAMEGEN_CFI_OUT_H

#include "core.h"
#include "dwarf_cfi.h"

/*
 * 'len' continues past 'max', so it is the size needed. 'bad' is set if a byte
 * did not fit here or in an expression.
 */
struct out {
	uint8_t *p;
	size_t len, max;
	bool bad;
	bool big_endian;
};

static inline void put_byte(struct out *o, unsigned int v)
{
	if (o->len < o->max)
		o->p[o->len] = v;
	else
		o->bad = true;
	o->len++;
}

static inline void put_fixed(struct out *o, uint64_t v, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		put_byte(o, v >> 8 * (o->big_endian ? len - 1 - i : i) & 0xff);
}

static inline void put_uleb(struct out *o, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		put_byte(o, 0x80 | (v & 0x7f));
	put_byte(o, v);
}

static inline void put_sleb(struct out *o, int64_t v)
{
	for (; v < -0x40 || v > 0x3f; v >>= 7)
		put_byte(o, 0x80 | (v & 0x7f));
	put_byte(o, v & 0x7f);
}

static inline void put_constant(struct out *o, int64_t v)
{
	if (v >= 0 && v < 32) {
		put_byte(o, DW_OP_lit0 + v);
	} else {
		put_byte(o, DW_OP_consts);
		put_sleb(o, v);
	}
}

static inline void put_breg(struct out *o, unsigned int reg, int64_t offset)
{
	put_byte(o, DW_OP_breg0 + reg);
	put_sleb(o, offset);
}

static inline void put_expr(struct out *o, const struct out *expr)
{
	size_t i;

	put_uleb(o, expr->len);
	for (i = 0; i < expr->len; i++)
		put_byte(o, i < expr->max ? expr->p[i] : 0);
	o->bad |= expr->bad;
}

/*
 * The length excludes its own 4 bytes. nops align the next record to the size
 * of an address.
 */
static inline void put_padding(struct out *o, size_t start)
{
	struct out length = *o;

	while (o->len % 8)
		put_byte(o, DW_CFA_nop);
	length.len = start;
	if (!o->bad)
		put_fixed(&length, o->len - start - 4, 4);
}

/*
 * Rules at a function's entry. A return address in a register needs none. The
 * caller's stack pointer is the CFA unless a rule says otherwise.
 */
static inline void put_entry_rules(struct out *o, const struct sfg_arch *arch)
{
	put_byte(o, DW_CFA_def_cfa);
	put_uleb(o, arch->sp);
	put_uleb(o, arch->fixed_ra ? -arch->fixed_ra : -arch->sp_bias);
	if (arch->fixed_ra) {
		put_byte(o, DW_CFA_offset + arch->ra);
		put_uleb(o, -arch->fixed_ra / 8);
	}
	if (arch->sp_bias) {
		put_byte(o, DW_CFA_val_offset);
		put_uleb(o, arch->sp);
		put_uleb(o, -arch->sp_bias / 8);
	}
}

/*
 * A CIE as compilers write it, with data alignment -8. 'pointers' is the
 * encoding of addresses in FDEs, DW_EH_PE_*; 'B' means signed with the B key.
 */
static inline void put_cie(struct out *o, const struct sfg_arch *arch,
			   unsigned int pointers, unsigned int flags)
{
	o->big_endian = arch->big_endian;
	put_fixed(o, 0, 8);		/* length (patched), id */
	put_byte(o, 1);		/* version */
	put_byte(o, 'z');
	put_byte(o, 'R');
	if (flags & SFJIT_FUNCTION_PAUTH_KEY_B)
		put_byte(o, 'B');
	if (flags & SFJIT_FUNCTION_SIGNAL)
		put_byte(o, 'S');
	put_byte(o, 0);
	put_uleb(o, 1);		/* code alignment */
	put_sleb(o, -8);		/* data alignment */
	put_byte(o, arch->ra);
	put_uleb(o, 1);
	put_byte(o, pointers);
	put_entry_rules(o, arch);
	put_padding(o, 0);
}

#endif /* SFRAMEGEN_CFI_OUT_H */
