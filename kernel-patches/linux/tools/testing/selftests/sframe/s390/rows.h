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
#define SFT_FLEX_CALLED(off)	SFT_FLEX(off, SFT_REG(15), SFT_CFA(160))

/* Realigned stack: the CFA is in r2, then in memory. */
static const __u16 sft_drap_code[] = {
	0xebbf, 0xf058, 0x0024,	/*  0 stmg %r11,%r15,88(%r15) */
	0x4120, 0xf0a0,		/*  6 la %r2,160(%r15) */
	0xa5f7, 0xff00,		/* 10 nill %r15,0xff00 */
	0xa7fb, 0xff50,		/* 14 aghi %r15,-176 */
	0xe320, 0xf0a0, 0x0024,	/* 18 stg %r2,160(%r15) */
	0xa7b9, 0x0000,		/* 24 lghi %r11,0 */
	SFT_BASR_R1,		/* 28 */
	0xe320, 0xf0a0, 0x0004,	/* 30 lg %r2,160(%r15) */
	0xe3f0, 0x2f60, 0xff71,	/* 36 lay %r15,-160(%r2) */
	0xebbf, 0xf058, 0x0004,	/* 42 lmg %r11,%r15,88(%r15) */
	SFT_BR_R14,		/* 48 */
};

static const __u8 sft_drap_insns[] = {
	0, 6, 10, 14, 18, 24, 28, 30, 36, 42, 48,
};

#define SFT_DRAP_RET	30
/* An offset at which the CFA is in the register, and a row for it. */
#define SFT_DRAP_IN_REG	18
#define SFT_DRAP_ROW	SFT_FLEX(0, SFT_REG(2), SFT_CFA(0))

static const struct sft_row sft_drap_rows[] = {
	SFT_FLEX(0, SFT_REG(15), SFT_CFA(160)),
	SFT_FLEX(10, SFT_REG(2), SFT_CFA(0)),
	SFT_FLEX(28, SFT_REG_DEREF(15), SFT_CFA(160), SFT_CFA_DEREF, SFT_R14,
		 SFT_CFA_DEREF, SFT_R11),
	SFT_FLEX(42, SFT_REG(15), SFT_CFA(160), SFT_CFA_DEREF, SFT_R14,
		 SFT_CFA_DEREF, SFT_R11),
	SFT_FLEX(48, SFT_REG(15), SFT_CFA(160)),
};

/* Between 8 and 10 the return address is in r3 only. */
static const __u16 sft_ra_code[] = {
	0xb904, 0x003e,		/*  0 lgr %r3,%r14 */
	0xa7e9, 0x0000,		/*  4 lghi %r14,0 */
	SFT_NOPR,		/*  8 */
	0xb904, 0x00e3,		/* 10 lgr %r14,%r3 */
	SFT_BR_R14,		/* 14 */
};

static const __u8 sft_ra_insns[] = { 4, 8, 10, 14 };

static const struct sft_row sft_ra_rows[] = {
	SFT_FLEX(0, SFT_REG(15), SFT_CFA(160)),
	SFT_FLEX(4, SFT_REG(15), SFT_CFA(160), SFT_REG(3), 0),
	SFT_FLEX(14, SFT_REG(15), SFT_CFA(160)),
};

/* The return address and r11 at unusual places. */
static const __u16 sft_moved_code[] = {
	0xa7fb, 0xff60,		/*  0 aghi %r15,-160 */
	0xe3e0, 0xf138, 0x0024,	/*  4 stg %r14,312(%r15) */
	0xe3b0, 0xf130, 0x0024,	/* 10 stg %r11,304(%r15) */
	0xa7b9, 0x0000,		/* 16 lghi %r11,0 */
	SFT_BASR_R1,		/* 20 */
	0xe3b0, 0xf130, 0x0004,	/* 22 lg %r11,304(%r15) */
	0xe3e0, 0xf138, 0x0004,	/* 28 lg %r14,312(%r15) */
	0xa7fb, 0x00a0,		/* 34 aghi %r15,160 */
	SFT_BR_R14,		/* 38 */
};

static const __u8 sft_moved_insns[] = { 0, 4, 10, 16, 20, 22, 28, 34, 38 };

#define SFT_MOVED_RET	22

static const struct sft_row sft_moved_rows[] = {
	SFT_FLEX(0, SFT_REG(15), SFT_CFA(160)),
	SFT_FLEX(4, SFT_REG(15), SFT_CFA(320)),
	SFT_FLEX(10, SFT_REG(15), SFT_CFA(320), SFT_CFA_DEREF, -8),
	SFT_FLEX(16, SFT_REG(15), SFT_CFA(320), SFT_CFA_DEREF, -8,
		 SFT_CFA_DEREF, -16),
	SFT_FLEX(28, SFT_REG(15), SFT_CFA(320), SFT_CFA_DEREF, -8),
	SFT_FLEX(34, SFT_REG(15), SFT_CFA(320)),
	SFT_FLEX(38, SFT_REG(15), SFT_CFA(160)),
};

/* A block whose size is no power of two. */
static const __u16 sft_block_code[] = {
	0xebef, 0xf070, 0x0024,	/*  0 stmg %r14,%r15,112(%r15) */
	0xa7fb, 0xff60,		/*  6 aghi %r15,-160 */
	SFT_BASR_R1,		/* 10 */
	0xebef, 0xf110, 0x0004,	/* 12 lmg %r14,%r15,272(%r15) */
	SFT_BR_R14, 0,		/* 18 */
};

static const __u8 sft_block_insns[] = { 0, 6, 10, 12, 18 };

#define SFT_BLOCK_RET	12
/* Offset of the first block. */
#define SFT_BLOCK_AT	2

static const struct sft_row sft_block_rows[] = {
	SFT_ROW_LR(0), SFT_ROW_RA(10, 1, 320, SFT_R14), SFT_ROW_LR(18),
};

/* A function with a back chain between two that have rows. */
static const __u16 sft_mixed_code[] = {
	0xebef, 0xf070, 0x0024,	/*  0 stmg %r14,%r15,112(%r15) */
	0xa7fb, 0xff60,		/*  6 aghi %r15,-160 */
	SFT_BASR_R1,		/* 10 */
	0xebef, 0xf110, 0x0004,	/* 12 lmg %r14,%r15,272(%r15) */
	SFT_BR_R14,		/* 18 */
	0xebef, 0xf070, 0x0024,	/* 20 stmg %r14,%r15,112(%r15) */
	0xb904, 0x000f,		/* 26 lgr %r0,%r15 */
	0xa7fb, 0xff60,		/* 30 aghi %r15,-160 */
	0xe300, 0xf000, 0x0024,	/* 34 stg %r0,0(%r15) */
	0xc0e5, 0x0000, 0x0007,	/* 40 brasl %r14,54 */
	0xebef, 0xf110, 0x0004,	/* 46 lmg %r14,%r15,272(%r15) */
	SFT_BR_R14,		/* 52 */
	0xebef, 0xf070, 0x0024,	/* 54 stmg %r14,%r15,112(%r15) */
	0xa7fb, 0xff60,		/* 60 aghi %r15,-160 */
	SFT_NOPR,		/* 64 */
	0xebef, 0xf110, 0x0004,	/* 66 lmg %r14,%r15,272(%r15) */
	SFT_BR_R14,		/* 72 */
};

#define SFT_UPPER_SIZE	20
#define SFT_UPPER_RET	12
#define SFT_MIDDLE	20
#define SFT_MIDDLE_RET	46
#define SFT_LOWER	54
#define SFT_LOWER_SIZE	20
#define SFT_LOWER_NOP	64

static const struct sft_row sft_upper_rows[] = {
	SFT_ROW_LR(0), SFT_ROW_RA(10, 1, 320, SFT_R14), SFT_ROW_LR(18),
};

static const struct sft_row sft_lower_rows[] = {
	SFT_ROW_LR(0), SFT_ROW_RA(10, 1, 320, SFT_R14), SFT_ROW_LR(18),
};

/*
 * stg %r14,112(%r15); aghi %r15,-160; @nr - 3 times aghi %r15,-8;
 * basr %r14,%r1; lg %r14,N+112(%r15); aghi %r15,N; br %r14: @nr rows.
 */
#define SFT_PUSH_ROW(nr)	((nr) ? 6 + 4 * (nr) : 0)
/* Offsets from the call. */
#define SFT_PUSHES_RET		2
#define SFT_PUSHES_LAST		12
#define SFT_PUSHES_SIZE		14
/* info of the FDE: the size of row starts. */
#define SFT_PUSHES_INFO		SFRAME_FRE_TYPE_ADDR2

static inline void sft_put_pushes(__u8 *code, struct sft_row *rows,
				  unsigned int nr)
{
	const __u16 size = 160 + 8 * (nr - 3);
	const __u16 head[] = { 0xe3e0, 0xf070, 0x0024, 0xa7fb, 0xff60 };
	const __u16 push[] = { 0xa7fb, 0xfff8 };
	const __u16 tail[] = {
		SFT_BASR_R1, 0xe3e0, 0xf000 | (size + 112), 0x0004,
		0xa7fb, size, SFT_BR_R14,
	};
	unsigned int i;

	memcpy(code, head, sizeof(head));
	rows[0] = (struct sft_row)SFT_ROW_LR(0);
	for (i = 1; i < nr - 1; i++) {
		memcpy(code + SFT_PUSH_ROW(i), push, sizeof(push));
		rows[i] = (struct sft_row)SFT_ROW_RA(SFT_PUSH_ROW(i), 1,
						     312 + 8 * i, SFT_R14);
	}
	memcpy(code + SFT_PUSH_ROW(i - 1), tail, sizeof(tail));
	rows[i] = (struct sft_row)SFT_ROW_LR(SFT_PUSH_ROW(i - 1) +
					     SFT_PUSHES_LAST);
}

/* A frame of more than a page. */
static const __u16 sft_far_head[] = {
	0xe3e0, 0xf070, 0x0024,	/* stg %r14,112(%r15) */
	0xa7fb, 0xf000,		/* aghi %r15,-0x1000 */
};

static const __u16 sft_far_nop[] = { SFT_NOPR };
static const __u16 sft_far_tail[] = {
	SFT_BASR_R1,
	0xe3e0, 0xf070, 0x0104,	/* lg %r14,0x1070(%r15) */
	0xa7fb, 0x1000,		/* aghi %r15,0x1000 */
	SFT_BR_R14,
};

/* Offset of the tail; offsets in the tail. */
#define SFT_FAR		(sizeof(sft_far_head) + 0x12000)
#define SFT_FAR_RET	2
#define SFT_FAR_LAST	12

static const struct sft_row sft_far_rows[] = {
	{ 0, SFT_WORD4 | 1, 1, { SFT_CFA(160) } },
	{ sizeof(sft_far_head), SFT_WORD4 | 1, 2,
	  { SFT_CFA(160 + 0x1000), SFT_R14 } },
	{ SFT_FAR + SFT_FAR_LAST, SFT_WORD2 | 1, 1, { SFT_CFA(160) } },
};

#endif /* SFRAME_ROWS_H */
