/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions with rows of each kind, for rows_test.c: code, the offsets of its
 * instructions, and the offset after its call.
 */
#ifndef SFRAME_ROWS_H
#define SFRAME_ROWS_H

#include "slots.h"

/* A row of the FLEX type for a function at its entry. */
#define SFT_FLEX_CALLED(off)	SFT_FLEX(off, SFT_REG(31), 0)

/* Realigned stack: the CFA is in x10, then in memory. */
static const __u32 sft_drap_code[] = {
	0x910003ea,	/*  0 mov x10, sp */
	0x927be95f,	/*  4 and sp, x10, #-32 */
	0xa9be7bfd,	/*  8 stp x29, x30, [sp, #-32]! */
	0x910003fd,	/* 12 mov x29, sp */
	0xf9000bea,	/* 16 str x10, [sp, #16] */
	SFT_BLR_X9,	/* 20 */
	0xf9400bea,	/* 24 ldr x10, [sp, #16] */
	0xa8c27bfd,	/* 28 ldp x29, x30, [sp], #32 */
	0x9100015f,	/* 32 mov sp, x10 */
	SFT_RET,	/* 36 */
};

static const __u8 sft_drap_insns[] = { 0, 4, 8, 12, 16, 20, 24, 28, 32, 36 };

#define SFT_DRAP_RET	24
/* An offset at which the CFA is in the register, and a row for it. */
#define SFT_DRAP_IN_REG	8
#define SFT_DRAP_ROW	SFT_FLEX(0, SFT_REG(10), 0)

static const struct sft_row sft_drap_rows[] = {
	SFT_FLEX(0, SFT_REG(31), 0),
	SFT_FLEX(4, SFT_REG(10), 0),
	SFT_FLEX(12, SFT_REG(10), 0, SFT_REG_DEREF(31), 8,
		 SFT_REG_DEREF(31), 0),
	SFT_FLEX(16, SFT_REG(10), 0, SFT_REG_DEREF(29), 8,
		 SFT_REG_DEREF(29), 0),
	SFT_FLEX(20, SFT_REG_DEREF(29), 16, SFT_REG_DEREF(29), 8,
		 SFT_REG_DEREF(29), 0),
	SFT_FLEX(32, SFT_REG(10), 0),
	SFT_FLEX(36, SFT_REG(31), 0),
};

/* Between 8 and 12 the return address is in x11 only. */
static const __u32 sft_ra_code[] = {
	0xaa1e03eb,	/*  0 mov x11, x30 */
	0xaa1f03fe,	/*  4 mov x30, xzr */
	0xd503201f,	/*  8 nop */
	0xaa0b03fe,	/* 12 mov x30, x11 */
	SFT_RET,	/* 16 */
};

static const __u8 sft_ra_insns[] = { 4, 8, 12, 16 };

static const struct sft_row sft_ra_rows[] = {
	SFT_FLEX(0, SFT_REG(31), 0),
	SFT_FLEX(4, SFT_REG(31), 0, SFT_REG(11), 0),
	SFT_FLEX(16, SFT_REG(31), 0),
};

/* The return address and x29 at unusual places. */
static const __u32 sft_moved_code[] = {
	0xd10083ff,	/*  0 sub sp, sp, #32 */
	0xf9000bfe,	/*  4 str x30, [sp, #16] */
	0xf90003fd,	/*  8 str x29, [sp] */
	0xaa1f03fd,	/* 12 mov x29, xzr */
	SFT_BLR_X9,	/* 16 */
	0xf94003fd,	/* 20 ldr x29, [sp] */
	0xf9400bfe,	/* 24 ldr x30, [sp, #16] */
	0x910083ff,	/* 28 add sp, sp, #32 */
	SFT_RET,	/* 32 */
};

static const __u8 sft_moved_insns[] = { 0, 4, 8, 12, 16, 20, 24, 28, 32 };

#define SFT_MOVED_RET	20

static const struct sft_row sft_moved_rows[] = {
	SFT_FLEX(0, SFT_REG(31), 0),
	SFT_FLEX(4, SFT_REG(31), 32),
	SFT_FLEX(8, SFT_REG(31), 32, SFT_CFA_DEREF, -16),
	SFT_FLEX(12, SFT_REG(31), 32, SFT_CFA_DEREF, -16, SFT_CFA_DEREF, -32),
	SFT_FLEX(24, SFT_REG(31), 32, SFT_CFA_DEREF, -16),
	SFT_FLEX(28, SFT_REG(31), 32),
	SFT_FLEX(32, SFT_REG(31), 0),
};

/* A block whose size is no power of two. */
static const __u32 sft_block_code[] = {
	SFT_PUSH_X30, SFT_BLR_X9, SFT_POP_X30, SFT_RET, 0,
};

static const __u8 sft_block_insns[] = { 0, 4, 8, 12 };

#define SFT_BLOCK_RET	8
/* Offset of the first block. */
#define SFT_BLOCK_AT	4

static const struct sft_row sft_block_rows[] = {
	SFT_ROW_LR(0), SFT_ROW_RA(4, 1, 16, -16), SFT_ROW_LR(12),
};

/*
 * A function with a frame record between two that have rows. The upper one has
 * a frame record, too, since the step to it does not recover the stack pointer.
 */
static const __u32 sft_mixed_code[] = {
	0xa9bf7bfd,	/*  0 stp x29, x30, [sp, #-16]! */
	0x910003fd,	/*  4 mov x29, sp */
	SFT_BLR_X9,	/*  8 */
	0xa8c17bfd,	/* 12 ldp x29, x30, [sp], #16 */
	SFT_RET,	/* 16 */
	0xa9bf7bfd,	/* 20 stp x29, x30, [sp, #-16]! */
	0x910003fd,	/* 24 mov x29, sp */
	0x94000003,	/* 28 bl 40 */
	0xa8c17bfd,	/* 32 ldp x29, x30, [sp], #16 */
	SFT_RET,	/* 36 */
	0xa9bf7bfd,	/* 40 stp x29, x30, [sp, #-16]! */
	0xaa1f03fd,	/* 44 mov x29, xzr */
	0xd503201f,	/* 48 nop */
	0xa8c17bfd,	/* 52 ldp x29, x30, [sp], #16 */
	SFT_RET,	/* 56 */
};

#define SFT_UPPER_SIZE	20
#define SFT_UPPER_RET	12
#define SFT_MIDDLE	20
#define SFT_MIDDLE_RET	32
#define SFT_LOWER	40
#define SFT_LOWER_SIZE	20
#define SFT_LOWER_NOP	48

static const struct sft_row sft_upper_rows[] = {
	SFT_ROW_LR(0), SFT_ROW_RA_FP(4, 1, 16, -8, -16), SFT_ROW_LR(16),
};

static const struct sft_row sft_lower_rows[] = {
	SFT_ROW_LR(0), SFT_ROW_RA_FP(4, 1, 16, -8, -16), SFT_ROW_LR(16),
};

/*
 * @nr - 2 times str x30, [sp, #-16]!; blr x9; ldr x30, [sp]; add sp, sp, #N;
 * ret: @nr rows.
 */
#define SFT_PUSH_ROW(nr)	(4 * (nr))
/* Offsets from the call. */
#define SFT_PUSHES_RET		4
#define SFT_PUSHES_LAST		12
#define SFT_PUSHES_SIZE		16
/* info of the FDE: the size of row starts. */
#define SFT_PUSHES_INFO		SFRAME_FRE_TYPE_ADDR2

static inline void sft_put_pushes(__u8 *code, struct sft_row *rows,
				  unsigned int nr)
{
	const __u32 tail[] = {
		SFT_BLR_X9, 0xf94003fe, 0x910003ff | 16 * (nr - 2) << 10,
		SFT_RET,
	};
	const __u32 push = SFT_PUSH_X30;
	unsigned int i;

	rows[0] = (struct sft_row)SFT_ROW_LR(0);
	for (i = 1; i < nr - 1; i++) {
		memcpy(code + 4 * (i - 1), &push, 4);
		rows[i] = (struct sft_row)SFT_ROW_RA(4 * i, 1, 16 * i, -16);
		rows[i].info |= SFT_WORD2;
	}
	memcpy(code + 4 * (i - 1), tail, sizeof(tail));
	rows[i] = (struct sft_row)SFT_ROW_LR(4 * (nr - 2) + SFT_PUSHES_LAST);
}

/* A frame of more than a page. */
static const __u32 sft_far_head[] = {
	SFT_PUSH_X30, 0xd14007ff,	/* sub sp, sp, #0x1000 */
};

static const __u32 sft_far_nop[] = { 0xd503201f };
static const __u32 sft_far_tail[] = {
	SFT_BLR_X9, 0x914007ff,		/* add sp, sp, #0x1000 */
	SFT_POP_X30, SFT_RET,
};

/* Offset of the tail; offsets in the tail. */
#define SFT_FAR		(sizeof(sft_far_head) + 0x12000)
#define SFT_FAR_RET	4
#define SFT_FAR_LAST	12

static const struct sft_row sft_far_rows[] = {
	{ 0, SFT_WORD4 | 1, 1, { 0 } },
	{ 4, SFT_WORD4 | 1, 2, { 16, -16 } },
	{ 8, SFT_WORD4 | 1, 2, { 0x1010, -16 } },
	{ SFT_FAR + 8, SFT_WORD2 | 1, 2, { 16, -16 } },
	{ SFT_FAR + SFT_FAR_LAST, SFT_WORD2 | 1, 1, { 0 } },
};

#endif /* SFRAME_ROWS_H */
