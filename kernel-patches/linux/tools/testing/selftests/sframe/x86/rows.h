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
#define SFT_FLEX_CALLED(off)	SFT_FLEX(off, SFT_REG(7), 8)

/*
 * Realigned stack, as gcc makes it: the CFA is in r10, then in memory.
 *
 *  0 lea 8(%rsp),%r10	 5 and $-32,%rsp	 9 push -8(%r10)
 * 13 push %rbp		14 mov %rsp,%rbp	17 push %r10
 * 19 call *%r9		22 pop %r10		24 pop %rbp
 * 25 lea -8(%r10),%rsp	29 ret
 */
static const __u8 sft_drap_code[] = {
	0x4c, 0x8d, 0x54, 0x24, 0x08, 0x48, 0x83, 0xe4, 0xe0, 0x41, 0xff, 0x72,
	0xf8, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x52, 0x41, 0xff, 0xd1, 0x41, 0x5a,
	0x5d, 0x49, 0x8d, 0x62, 0xf8, 0xc3,
};

static const __u8 sft_drap_insns[] = {
	0, 5, 9, 13, 14, 17, 19, 22, 24, 25, 29,
};

#define SFT_DRAP_RET	22
/* An offset at which the CFA is in the register, and a row for it. */
#define SFT_DRAP_IN_REG	13
#define SFT_DRAP_ROW	SFT_FLEX(0, SFT_REG(10), 0)

static const struct sft_row sft_drap_rows[] = {
	SFT_FLEX(0, SFT_REG(7), 8),
	SFT_FLEX(5, SFT_REG(10), 0),
	SFT_FLEX(17, SFT_REG(10), 0, 0, SFT_REG_DEREF(6), 0),
	SFT_FLEX(19, SFT_REG_DEREF(6), -8, 0, SFT_REG_DEREF(6), 0),
	SFT_FLEX(24, SFT_REG(10), 0, 0, SFT_REG_DEREF(7), 0),
	SFT_FLEX(25, SFT_REG(10), 0),
	SFT_FLEX(29, SFT_REG(7), 8),
};

/*
 *  0 pop %r11		 2 push %r11	 4 mov %r11,%rax
 *  7 pop %rcx (drops it) 8 nop		 9 push %rax	10 ret
 * Between 7 and 9 the return address is in rax and r11 only.
 */
static const __u8 sft_ra_code[] = {
	0x41, 0x5b, 0x41, 0x53, 0x4c, 0x89, 0xd8, 0x59, 0x90, 0x50, 0xc3,
};

static const __u8 sft_ra_insns[] = { 2, 4, 8, 10 };

static const struct sft_row sft_ra_rows[] = {
	SFT_FLEX(0, SFT_REG(7), 8),
	SFT_FLEX(2, SFT_REG(7), 0, SFT_REG(11), 0),
	SFT_FLEX(4, SFT_REG(7), 8),
	SFT_FLEX(8, SFT_REG(7), 0, SFT_REG(11), 0),
	SFT_FLEX(10, SFT_REG(7), 8),
};

/*
 * The return address and rbp at unusual places:
 * 0 push (%rsp); 3 push %rbp; 4 xor %ebp,%ebp; 6 movq $0,16(%rsp);
 * 15 call *%r9; 18 mov 8(%rsp),%rax; 23 mov %rax,16(%rsp); 28 pop %rbp;
 * 29 pop %rcx; 30 ret
 */
static const __u8 sft_moved_code[] = {
	0xff, 0x34, 0x24, 0x55, 0x31, 0xed, 0x48, 0xc7, 0x44, 0x24, 0x10, 0, 0,
	0, 0, 0x41, 0xff, 0xd1, 0x48, 0x8b, 0x44, 0x24, 0x08, 0x48, 0x89, 0x44,
	0x24, 0x10, 0x5d, 0x59, 0xc3,
};

static const __u8 sft_moved_insns[] = { 0, 3, 4, 6, 15, 18, 23, 28, 29, 30 };

#define SFT_MOVED_RET	18

static const struct sft_row sft_moved_rows[] = {
	SFT_FLEX(0, SFT_REG(7), 8),
	SFT_FLEX(3, SFT_REG(7), 16),
	SFT_FLEX(4, SFT_REG(7), 24, SFT_CFA_DEREF, -16, SFT_CFA_DEREF, -24),
	SFT_FLEX(28, SFT_REG(7), 24, 0, SFT_CFA_DEREF, -24),
	SFT_FLEX(29, SFT_REG(7), 16),
	SFT_FLEX(30, SFT_REG(7), 8),
};

/* A block whose size is no power of two: push %rax; call *%r9; pop %rcx; ret */
static const __u8 sft_block_code[] = {
	0x50, 0x41, 0xff, 0xd1, 0x59, 0xc3, 0xcc,
};

static const __u8 sft_block_insns[] = { 0, 1, 4, 5 };

#define SFT_BLOCK_RET	4
/* Offset of the first block. */
#define SFT_BLOCK_AT	3

static const struct sft_row sft_block_rows[] = {
	SFT_SP(0, 8), SFT_SP(1, 16), SFT_SP(5, 8),
};

/* A function with a frame pointer between two that have rows. */
static const __u8 sft_mixed_code[] = {
	/* 0: push %rax; 1: call *%r9; 4: pop %rcx; 5: ret */
	0x50, 0x41, 0xff, 0xd1, 0x59, 0xc3, 0xcc, 0xcc,
	/* 8: push %rbp; mov %rsp,%rbp; 12: call 20; 17: pop; ret */
	0x55, 0x48, 0x89, 0xe5, 0xe8, 3, 0, 0, 0, 0x5d, 0xc3, 0xcc,
	/* 20: push %rbp; 21: xor %ebp,%ebp; 23: nop; 24: pop; 25: ret */
	0x55, 0x31, 0xed, 0x90, 0x5d, 0xc3,
};

#define SFT_UPPER_SIZE	6
#define SFT_UPPER_RET	4
#define SFT_MIDDLE	8
#define SFT_MIDDLE_RET	17
#define SFT_LOWER	20
#define SFT_LOWER_SIZE	6
#define SFT_LOWER_NOP	23

static const struct sft_row sft_upper_rows[] = {
	SFT_SP(0, 8), SFT_SP(1, 16), SFT_SP(5, 8),
};

static const struct sft_row sft_lower_rows[] = {
	SFT_SP(0, 8), SFT_SP_FP(1, 16, -16), SFT_SP(5, 8),
};

/* @nr - 2 times push %rax; call *%r9; add $N,%rsp; ret: @nr rows. */
#define SFT_PUSH_ROW(nr)	(nr)
/* Offsets from the call. */
#define SFT_PUSHES_RET		3
#define SFT_PUSHES_LAST		10
#define SFT_PUSHES_SIZE		11
/* info of the FDE: the size of row starts. */
#define SFT_PUSHES_INFO		SFRAME_FRE_TYPE_ADDR1

static inline void sft_put_pushes(__u8 *code, struct sft_row *rows,
				  unsigned int nr)
{
	const __u32 size = 8 * (nr - 2);
	unsigned int i;

	memset(code, 0x50, nr - 2);
	for (i = 0; i < nr - 1; i++)
		rows[i] = (struct sft_row){ i, SFT_WORD2 | 1, 1, { 8 + 8 * i } };
	code += nr - 2;
	memcpy(code, (__u8[]){ 0x41, 0xff, 0xd1, 0x48, 0x81, 0xc4 }, 6);
	memcpy(code + 6, &size, 4);
	code[10] = 0xc3;
	rows[i] = (struct sft_row)SFT_SP(nr - 2 + SFT_PUSHES_LAST, 8);
}

/* A frame of more than a page: sub $0x1000,%rsp; nops; call *%r9; add; ret */
static const __u8 sft_far_head[] = { 0x48, 0x81, 0xec, 0, 0x10, 0, 0 };
static const __u8 sft_far_nop[] = { 0x90 };
static const __u8 sft_far_tail[] = {
	0x41, 0xff, 0xd1, 0x48, 0x81, 0xc4, 0, 0x10, 0, 0, 0xc3,
};

/* Offset of the tail; offsets in the tail. */
#define SFT_FAR		(sizeof(sft_far_head) + 0x12000)
#define SFT_FAR_RET	3
#define SFT_FAR_LAST	10

static const struct sft_row sft_far_rows[] = {
	{ 0, SFT_WORD4 | 1, 1, { 8 } },
	{ sizeof(sft_far_head), SFT_WORD4 | 1, 1, { 0x1008 } },
	{ SFT_FAR + SFT_FAR_LAST, SFT_WORD2 | 1, 1, { 8 } },
};

#endif /* SFRAME_ROWS_H */
