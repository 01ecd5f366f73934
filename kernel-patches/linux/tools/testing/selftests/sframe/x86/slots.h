/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines without frame pointer, with rows checked by hand, and rows for
 * the functions of frames.S.
 */
#ifndef SFRAME_SLOTS_H
#define SFRAME_SLOTS_H

#include "sframe_test.h"

/* The row of a function at its entry. */
#define SFT_ROW_CALLED(off)	SFT_SP(off, 8)

/* Bytes of a slot; slots repeat. */
#define SFT_SLOT	16

/**
 * struct sft_slot - one kind of trampoline
 * @name:	of the kind
 * @code:	instructions, then int3
 * @insns:	offset of each instruction; 0 ends them, except the first
 * @ret:	offset of the instruction after the call
 * @data:	offset of the 32-bit distance to the word with the target, or 0
 * @fp_lost:	rbp is no frame pointer between these offsets
 * @record:	it keeps a frame record between these offsets
 * @info:	info of the FDE
 * @rows:	rows
 * @nr_rows:	number of rows
 */
struct sft_slot {
	const char	*name;
	__u8		code[SFT_SLOT];
	__u8		insns[8];
	__u8		ret;
	__u8		data;
	__u8		fp_lost[2];
	__u8		record[2];
	__u8		info;
	struct sft_row	rows[3];
	__u8		nr_rows;
};

/* endbr64; push %rax; call *%r9; pop %rcx; ret */
static const struct sft_slot sft_slot_arg __maybe_unused = {
	.name = "arg",
	.code = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x50, 0x41, 0xff, 0xd1, 0x59, 0xc3,
		0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	},
	.insns = { 0, 4, 5, 8, 9 },
	.ret = 8,
	.rows = { SFT_SP(0, 8), SFT_SP(5, 16), SFT_SP(9, 8) },
	.nr_rows = 3,
};

/* A wrong CFA of the second row: the return address is a stack address. */
#define SFT_SLOT_ARG_WRONG	24

/* Bytes of its attributes and rows. */
#define SFT_SLOT_ARG_LEN	(5 + 3 * 3)

/* endbr64; push %rax; call *DATA(%rip); pop %rcx; ret */
static const struct sft_slot sft_slot_data __maybe_unused = {
	.name = "slot",
	.code = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x50, 0xff, 0x15, 0, 0, 0, 0, 0x59,
		0xc3, 0xcc, 0xcc, 0xcc,
	},
	.insns = { 0, 4, 5, 11, 12 },
	.ret = 11,
	.data = 7,
	.rows = { SFT_SP(0, 8), SFT_SP(5, 16), SFT_SP(12, 8) },
	.nr_rows = 3,
};

/* endbr64; push %rbp; mov %r9,%rbp; call *%rbp; pop %rbp; ret */
static const struct sft_slot sft_slot_rbp __maybe_unused = {
	.name = "rbp",
	.code = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x4c, 0x89, 0xcd, 0xff, 0xd5,
		0x5d, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc,
	},
	.insns = { 0, 4, 5, 8, 10, 11 },
	.ret = 10,
	.fp_lost = { 8, 11 },
	.rows = { SFT_SP(0, 8), SFT_SP_FP(5, 16, -16), SFT_SP(11, 8) },
	.nr_rows = 3,
};

/* Does a step by frame pointer recover the base register of the row? */
static inline bool sft_known_behind(const struct sft_slot *slot)
{
	return true;
}

/*
 * Slots with different frames, so that the rows of another slot are wrong:
 * sub $N,%rsp; call *%r9; add $N,%rsp; ret
 */
#define SFT_FRAME_SLOT_SIZE	12
/* Offsets of its call, its last instruction, and that after the call. */
#define SFT_FRAME_SLOT_CALL	4
#define SFT_FRAME_SLOT_LAST	11
#define SFT_FRAME_SLOT_RET	7
/* Bytes of the second row. */
#define SFT_FRAME_ROW_LEN	3
#define SFT_FRAME_SIZE(nr)	(8 + (nr) % 14 * 8)

static inline void sft_put_frame_slot(__u8 *code, struct sft_row *rows,
				      __u8 size)
{
	const __u8 insns[] = {
		0x48, 0x83, 0xec, size, 0x41, 0xff, 0xd1, 0x48, 0x83, 0xc4,
		size, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc,
	};

	memcpy(code, insns, sizeof(insns));
	rows[0] = (struct sft_row)SFT_SP(0, 8);
	rows[1] = (struct sft_row)SFT_SP(4, 8 + size);
	rows[2] = (struct sft_row)SFT_SP(11, 8);
}

/* One slot in a mapping of two pages; the target's address is in the second. */
#define SFT_SLOT_MAP	(2 * SFT_PAGE)

static inline __u8 *sft_make_slot(const struct sft_slot *kind,
				  const void *target)
{
	__u8 *text = sft_map_code(kind->code, SFT_SLOT, SFT_SLOT_MAP);
	__s32 distance = SFT_PAGE - kind->ret;

	if (!text || mprotect(text, SFT_SLOT_MAP, SFT_RW))
		return NULL;
	if (kind->data)
		memcpy(text + kind->data, &distance, sizeof(distance));
	memcpy(text + SFT_PAGE, &target, sizeof(target));
	return mprotect(text, SFT_PAGE, SFT_RX) ? NULL : text;
}

/* endbr64; push %rbp; mov %rsp,%rbp; nop; pop %rbp; ret */
static const __u8 sft_leaf_insns[] __maybe_unused = { 0, 4, 5, 8, 9, 10 };
static const struct sft_row sft_leaf_rows[] __maybe_unused = {
	SFT_SP(0, 8), SFT_SP_FP(5, 16, -16), SFT_FP_FP(8, 16, -16),
	SFT_SP(10, 8),
};

/*
 * 0: sub $24,%rsp; 4: call *%r9, at the end, as its callee does not return. At
 * 7 another function begins: nop; ret.
 */
static const __u8 sft_noreturn_code[] __maybe_unused = {
	0x48, 0x83, 0xec, 0x18, 0x41, 0xff, 0xd1, 0x90, 0xc3,
};

#define SFT_NORETURN_SIZE	7
#define SFT_NORETURN_CALL	4
#define SFT_NEXT_SIZE		2

static const struct sft_row sft_noreturn_rows[] __maybe_unused = {
	SFT_SP(0, 8), SFT_SP(4, 32),
};

static const struct sft_row sft_next_rows[] __maybe_unused = { SFT_SP(0, 8) };

#define SFT_POPS
/*
 * 0: push %rax; 1: call *%r9, whose callee pops the word; 4: ret. The row
 * changes at the return address.
 */
static const __u8 sft_popped_code[] __maybe_unused = {
	0x50, 0x41, 0xff, 0xd1, 0xc3,
};

static const struct sft_row sft_popped_rows[] __maybe_unused = {
	SFT_SP(0, 8), SFT_SP(1, 16), SFT_SP(4, 8),
};

/* push %rbp; mov %r9,%rbp; nop; pop %rbp; ret */
static const __u8 sft_fp_code[] __maybe_unused = {
	0x55, 0x4c, 0x89, 0xcd, 0x90, 0x5d, 0xc3,
};

#define SFT_FP_CODE_NOP		4
/* The CFA there, from the stack pointer. */
#define SFT_FP_CODE_CFA		16

/* The target of a frame pointer. */
struct sft_frame {
	__u64	fp, ra;
};

/* ret */
static const __u8 sft_ret_code[] __maybe_unused = { 0xc3 };

/* The slot that tests of signals interrupt. */
#define sft_slot_interrupted	sft_slot_rbp

/* Return addresses are not signed. */
static inline __u64 sft_strip(__u64 ip)
{
	return ip;
}

#endif /* SFRAME_SLOTS_H */
