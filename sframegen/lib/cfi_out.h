/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Call frame information, byte by byte. */
#ifndef SFRAMEGEN_CFI_OUT_H
#define SFRAMEGEN_CFI_OUT_H

#include "core.h"
#include "dwarf_cfi.h"

/*
 * 'len' goes on past 'max', so that it says what would have been needed. bad: a
 * byte is missing here or in an expression.
 */
struct out {
	uint8_t *p;
	size_t len, max;
	bool bad;
};

static inline void put_byte(struct out *o, unsigned int v)
{
	if (o->len < o->max)
		o->p[o->len] = v;
	else
		o->bad = true;
	o->len++;
}

/* Little-endian, as is the one ABI that this is for. */
static inline void put_fixed(struct out *o, uint64_t v, unsigned int len)
{
	for (; len; len--, v >>= 8)
		put_byte(o, v & 0xff);
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
 * The length does not count its own 4 bytes. nops let the next record begin at
 * a multiple of the size of an address.
 */
static inline void put_padding(struct out *o, size_t start)
{
	size_t len;

	while (o->len % 8)
		put_byte(o, DW_CFA_nop);
	len = o->len - start - 4;
	if (!o->bad)
		memcpy(o->p + start, &(uint32_t){ len }, 4);
}

/*
 * As compilers write it for AMD64: on entry the CFA is rsp + 8 and the return
 * address is at CFA - 8, 1 in units of the data alignment. 'pointers' is how
 * FDEs store addresses, DW_EH_PE_*.
 */
static inline void put_cie(struct out *o, const struct sfg_arch *arch,
			   unsigned int pointers)
{
	put_fixed(o, 0, 8);		/* length (patched), id */
	put_byte(o, 1);		/* version */
	put_byte(o, 'z');
	put_byte(o, 'R');
	put_byte(o, 0);
	put_uleb(o, 1);		/* code alignment */
	put_sleb(o, -8);		/* data alignment */
	put_byte(o, arch->ra);
	put_uleb(o, 1);
	put_byte(o, pointers);
	put_byte(o, DW_CFA_def_cfa);
	put_uleb(o, arch->sp);
	put_uleb(o, -arch->fixed_ra);
	put_byte(o, DW_CFA_offset + arch->ra);
	put_uleb(o, -arch->fixed_ra / 8);
	put_padding(o, 0);
}

#endif /* SFRAMEGEN_CFI_OUT_H */
