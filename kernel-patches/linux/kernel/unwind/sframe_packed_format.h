/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A packed table: the unwind rule of each address in a range of code, found
 * without a search. Its parts follow each other, in the byte order of the
 * machine, at an address that is a multiple of SFRAME_PACKED_ALIGN:
 *
 *	header
 *	rules[nr_rules]		16 bytes each
 *	index			u32 for each bucket of 256 units of code
 *	blocks			blocks_len bytes
 *	SFRAME_PACKED_PAD bytes
 *
 * A unit is 1 << unit_shift bytes, the alignment of instructions. The number of
 * buckets follows from text_length, or from repeat if that is less and not 0.
 */
#ifndef _KERNEL_UNWIND_SFRAME_PACKED_FORMAT_H
#define _KERNEL_UNWIND_SFRAME_PACKED_FORMAT_H

#include <linux/types.h>

#define SFRAME_PACKED_MAGIC		0x5053
#define SFRAME_PACKED_VERSION		1
#define SFRAME_PACKED_ALIGN		16
#define SFRAME_PACKED_PAD		8
#define SFRAME_PACKED_BUCKET_SHIFT	8	/* log2 of units */

struct sframe_packed_header {
	__u16	magic;
	__u8	version;
	__u8	abi_arch;	/* SFRAME_ABI_* */
	__u8	unit_shift;
	__u8	repeat;		/* bytes after which rules repeat, or 0 */
	__u16	nr_rules;
	__u64	text_start;	/* without the bias of the window */
	__u32	text_length;	/* bytes of code */
	__u32	blocks_len;
	__u64	writer;		/* private to the writer */
};

/*
 * Without BLOCK, an index entry is the rule number for the whole bucket. With
 * BLOCK, it is the offset of a block: u8 n; u8 change[n], increasing, in units
 * from the start of the bucket; id[n + 1], the rules before, between and after
 * the changes. An id has one byte, or two with WIDE.
 */
#define SFRAME_PACKED_BLOCK		0x80000000U
#define SFRAME_PACKED_WIDE		0x40000000U
#define SFRAME_PACKED_OFFSET(entry)	((entry) & 0x3fffffffU)

struct sframe_packed_rule {
	__u8	kind;		/* and flags */
	union {
		__u8	cfa;	/* RULES: place; so are ra and fp */
		/* PLAIN: 0: unknown; 1: unchanged; n: at CFA - 8n */
		__u8	third;
	};
	__u8	ra, fp;
	__s32	cfa_off;
	__s32	ra_off;
	__s32	fp_off;
};

#define SFRAME_PACKED_KIND(kind)	((kind) & 0x7)
#define SFRAME_PACKED_UNKNOWN		0	/* nothing is known */
/* CFA = sp or fp + cfa_off; RA and, if saved, FP at offsets from the CFA. */
#define SFRAME_PACKED_PLAIN		1
#define SFRAME_PACKED_RULES		2
#define SFRAME_PACKED_SIGNAL		3	/* the kernel's signal frame */
#define SFRAME_PACKED_OUTERMOST		4	/* no caller */
#define SFRAME_PACKED_FP		5	/* follow the frame pointer */
/* Not a rule: its cfa_off is the addend of the previous rule. */
#define SFRAME_PACKED_ADDEND		6

/* Flags of PLAIN and RULES */
#define SFRAME_PACKED_MANGLED_RA	0x08	/* RA is signed */
#define SFRAME_PACKED_KEY_B		0x10	/* by key B, not A */
#define SFRAME_PACKED_EXACT		0x20	/* the caller's address is exact */
#define SFRAME_PACKED_FROM_FP		0x40	/* PLAIN: CFA from fp, not sp */
#define SFRAME_PACKED_HAS_ADDEND	0x40	/* RULES */
#define SFRAME_PACKED_FP_SAVED		0x80	/* PLAIN */

/* A place: register or CFA, plus the offset. LOAD: the word stored there. */
#define SFRAME_PACKED_REGNUM(place)	((place) & 0x1f)	/* DWARF's */
#define SFRAME_PACKED_BASE		0x60
#define SFRAME_PACKED_NONE		0x00	/* RA: link register; FP: kept */
#define SFRAME_PACKED_CFA		0x20
#define SFRAME_PACKED_REG		0x40
#define SFRAME_PACKED_LOAD		0x80

#endif /* _KERNEL_UNWIND_SFRAME_PACKED_FORMAT_H */
