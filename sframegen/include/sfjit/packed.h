/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A packed table: what to do at each address of a range of code, as SFrame has
 * it, in a shape that needs no search. Documentation/packed.rst is the
 * specification. In the byte order of the ABI, one after the other:
 *
 *	header
 *	rules[nr_rules]		16 bytes each; rule 0 is all zero
 *	index			u32 for each bucket of 256 units of code
 *	blocks			blocks_len bytes
 *	8 bytes			0
 *
 * A unit is 1 << unit_shift bytes, what addresses of instructions are multiples
 * of. An index entry is the id of the rule of the whole bucket, or refers to a
 * block.
 */
#ifndef SFJIT_PACKED_H
#define SFJIT_PACKED_H

#include <stdint.h>

#define SFRAME_PACKED_MAGIC		0x5053
#define SFRAME_PACKED_VERSION		1
#define SFRAME_PACKED_ALIGN		16	/* of the table */
#define SFRAME_PACKED_PAD		8
#define SFRAME_PACKED_BUCKET_SHIFT	8	/* log2 of units */

struct sframe_packed_header {
	uint16_t magic;
	uint8_t version;
	uint8_t abi_arch;	/* SFRAME_ABI_* */
	uint8_t unit_shift;
	uint8_t repeat;		/* rules repeat every so many bytes, or 0 */
	uint16_t nr_rules;
	uint64_t text_start;
	uint32_t text_length;	/* bytes of code */
	uint32_t blocks_len;
	uint64_t writer;	/* for the writer: readers ignore it */
};

/*
 * Index entries. A block: u8 n; u8 change[n], units from the start of the
 * bucket, which increase; id[n + 1], of the rules before, between and after the
 * changes. An id has one byte, with WIDE two.
 */
#define SFRAME_PACKED_BLOCK	0x80000000U
#define SFRAME_PACKED_WIDE	0x40000000U
#define SFRAME_PACKED_OFFSET(e)	((e) & 0x3fffffffU)	/* in the blocks */
#define SFRAME_PACKED_RULE(e)	(e)			/* without BLOCK */

struct sframe_packed_rule {
	uint8_t kind;		/* and flags */
	uint8_t cfa, ra, fp;	/* RULES: places; PLAIN: cfa is THIRD_* */
	int32_t cfa_off;
	int32_t ra_off;
	int32_t fp_off;
};

#define SFRAME_PACKED_KIND(kind)	((kind) & 0x7)
#define SFRAME_PACKED_UNKNOWN		0	/* nothing is known */
/* CFA = sp or fp + cfa_off; RA and, if saved, FP at offsets from the CFA. */
#define SFRAME_PACKED_PLAIN		1
#define SFRAME_PACKED_RULES		2
#define SFRAME_PACKED_SIGNAL		3	/* signal trampoline */
#define SFRAME_PACKED_OUTERMOST		4	/* no caller */
#define SFRAME_PACKED_FP		5	/* keeps frame pointers */
/* Not a rule: its cfa_off is the addend of the rule before it. */
#define SFRAME_PACKED_ADDEND		6

/* Flags of PLAIN and RULES */
#define SFRAME_PACKED_MANGLED_RA	0x08	/* AArch64: RA is signed */
#define SFRAME_PACKED_KEY_B		0x10	/* with this key */
#define SFRAME_PACKED_EXACT		0x20	/* the caller's address is exact */
#define SFRAME_PACKED_FROM_FP		0x40	/* PLAIN: CFA from fp, not sp */
#define SFRAME_PACKED_HAS_ADDEND	0x40	/* RULES */
#define SFRAME_PACKED_FP_SAVED		0x80	/* PLAIN */

/*
 * Of PLAIN, in place of cfa: the caller's third register, rbx on AMD64, is not
 * known, unchanged, or stored so many words below the CFA. Other machines have
 * none.
 */
#define SFRAME_PACKED_THIRD_UNKNOWN	0
#define SFRAME_PACKED_THIRD_KEPT	1
#define SFRAME_PACKED_THIRD_MAX		31

/* A place: a register or the CFA, plus the offset; LOAD: the word stored there. */
#define SFRAME_PACKED_REGNUM(place)	((place) & 0x1f)	/* DWARF's */
#define SFRAME_PACKED_BASE		0x60
#define SFRAME_PACKED_NONE		0x00	/* RA: link register; FP: kept */
#define SFRAME_PACKED_CFA		0x20
#define SFRAME_PACKED_REG		0x40
#define SFRAME_PACKED_LOAD		0x80

#endif /* SFJIT_PACKED_H */
