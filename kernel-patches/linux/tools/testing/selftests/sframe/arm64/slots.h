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

/* Rows of the DEFAULT type; @base is 1 for CFA = sp + cfa, 0 for fp + cfa. */
#define SFT_ROW_LR(off)			{ (off), 1, 1, { 0 } }
#define SFT_ROW_RA(off, base, cfa, ra)	{ (off), (base), 2, { (cfa), (ra) } }
#define SFT_ROW_RA_FP(off, base, cfa, ra, fp)				\
	{ (off), (base), 3, { (cfa), (ra), (fp) } }
/* The row of a function at its entry. */
#define SFT_ROW_CALLED(off)	SFT_ROW_LR(off)
/* Rows with 0 as RA offset, and the callers found after such a row. */
#define SFT_ROW_PADDED		{ 0, 0, 3, { 16, 0, -16 } }
#define SFT_ROW_PADDED_ALONE	{ 0, 0, 2, { 16, 0 } }
#define SFT_PADDED_LEFT		((uintptr_t)sft_enter_ret)
/* Bit in info of a row: the return address is signed. */
#define SFT_SIGNED			0x80

/* Bytes of a slot; slots repeat. */
#define SFT_SLOT	32

/**
 * struct sft_slot - one kind of trampoline
 * @name:	of the kind
 * @code:	instructions, then udf #0
 * @insns:	offset of each instruction; 0 ends them, except the first
 * @ret:	offset of the instruction after the call
 * @data:	offset of the instruction that loads the target, or 0
 * @fp_lost:	x29 is no frame pointer between these offsets
 * @record:	it keeps a frame record between these offsets
 * @info:	info of the FDE
 * @rows:	rows
 * @nr_rows:	number of rows
 */
struct sft_slot {
	const char	*name;
	__u32		code[SFT_SLOT / 4];
	__u8		insns[8];
	__u8		ret;
	__u8		data;
	__u8		fp_lost[2];
	__u8		record[2];
	__u8		info;
	struct sft_row	rows[5];
	__u8		nr_rows;
};

#define SFT_BTI_C	0xd503245f
#define SFT_PUSH_X30	0xf81f0ffe	/* str x30, [sp, #-16]! */
#define SFT_POP_X30	0xf84107fe	/* ldr x30, [sp], #16 */
#define SFT_BLR_X9	0xd63f0120
#define SFT_RET		0xd65f03c0

/* bti c; str x30, [sp, #-16]!; blr x9; ldr x30, [sp], #16; ret */
static const struct sft_slot sft_slot_arg __maybe_unused = {
	.name = "arg",
	.code = {
		SFT_BTI_C, SFT_PUSH_X30, SFT_BLR_X9, SFT_POP_X30, SFT_RET,
	},
	.insns = { 0, 4, 8, 12, 16 },
	.ret = 12,
	.rows = {
		SFT_ROW_LR(0), SFT_ROW_RA(8, 1, 16, -16), SFT_ROW_LR(16),
	},
	.nr_rows = 3,
};

/* A wrong CFA of the second row: the return address is a stack address. */
#define SFT_SLOT_ARG_WRONG	32

/* Bytes of its attributes and rows. */
#define SFT_SLOT_ARG_LEN	(5 + 3 + 4 + 3)

/* The same with ldr x16 from one page after the slot; blr x16 */
static const struct sft_slot sft_slot_data __maybe_unused = {
	.name = "slot",
	.code = {
		SFT_BTI_C, SFT_PUSH_X30, 0x58000000 | (SFT_PAGE - 8) / 4 << 5 |
		16, 0xd63f0200, SFT_POP_X30, SFT_RET,
	},
	.insns = { 0, 4, 8, 12, 16, 20 },
	.ret = 16,
	.data = 8,
	.rows = {
		SFT_ROW_LR(0), SFT_ROW_RA(8, 1, 16, -16), SFT_ROW_LR(20),
	},
	.nr_rows = 3,
};

/* bti c; stp x29, x30, [sp, #-16]!; mov x29, x9; blr x29; ldp ...; ret */
static const struct sft_slot sft_slot_rbp __maybe_unused = {
	.name = "rbp",
	.code = {
		SFT_BTI_C, 0xa9bf7bfd, 0xaa0903fd, 0xd63f03a0, 0xa8c17bfd,
		SFT_RET,
	},
	.insns = { 0, 4, 8, 12, 16, 20 },
	.ret = 16,
	.fp_lost = { 12, 20 },
	.rows = {
		SFT_ROW_LR(0), SFT_ROW_RA_FP(8, 1, 16, -8, -16),
		SFT_ROW_LR(20),
	},
	.nr_rows = 3,
};

/* bti c; stp x29, x30, [sp, #-16]!; mov x29, sp; blr x9; ldp ...; ret */
static const struct sft_slot sft_slot_record __maybe_unused = {
	.name = "record",
	.code = {
		SFT_BTI_C, 0xa9bf7bfd, 0x910003fd, SFT_BLR_X9, 0xa8c17bfd,
		SFT_RET,
	},
	.insns = { 0, 4, 8, 12, 16, 20 },
	.ret = 16,
	.rows = {
		SFT_ROW_LR(0), SFT_ROW_RA_FP(8, 1, 16, -8, -16),
		SFT_ROW_LR(20),
	},
	.record = { 12, 20 },
	.nr_rows = 3,
};

/* paciasp; str x30, ...; blr x9; ldr x30, ...; autiasp; ret */
static const struct sft_slot sft_slot_signed_a __maybe_unused = {
	.name = "signed_a",
	.code = {
		0xd503233f, SFT_PUSH_X30, SFT_BLR_X9, SFT_POP_X30, 0xd50323bf,
		SFT_RET,
	},
	.insns = { 0, 4, 8, 12, 16, 20 },
	.ret = 12,
	.rows = {
		SFT_ROW_LR(0), { 4, 1 | SFT_SIGNED, 1, { 0 } },
		{ 8, 1 | SFT_SIGNED, 2, { 16, -16 } },
		{ 16, 1 | SFT_SIGNED, 1, { 0 } }, SFT_ROW_LR(20),
	},
	.nr_rows = 5,
};

/* The same with pacibsp and autibsp. */
static const struct sft_slot sft_slot_signed_b __maybe_unused = {
	.name = "signed_b",
	.code = {
		0xd503237f, SFT_PUSH_X30, SFT_BLR_X9, SFT_POP_X30, 0xd50323ff,
		SFT_RET,
	},
	.insns = { 0, 4, 8, 12, 16, 20 },
	.ret = 12,
	.info = SFRAME_FDE_PAUTH_KEY_B,
	.rows = {
		SFT_ROW_LR(0), { 4, 1 | SFT_SIGNED, 1, { 0 } },
		{ 8, 1 | SFT_SIGNED, 2, { 16, -16 } },
		{ 16, 1 | SFT_SIGNED, 1, { 0 } }, SFT_ROW_LR(20),
	},
	.nr_rows = 5,
};

/* Does a step by frame pointer recover the base register of the row? */
static inline bool sft_known_behind(const struct sft_slot *slot)
{
	return slot->record[1];
}

/*
 * Slots with different frames, so that the rows of another slot are wrong:
 * stp x29, x30, [sp, #-N]!; mov x29, sp; blr x9; ldp x29, x30, [sp], #N; ret
 */
#define SFT_FRAME_SLOT_SIZE	20
/* Offsets of its call, its last instruction, and that after the call. */
#define SFT_FRAME_SLOT_CALL	8
#define SFT_FRAME_SLOT_LAST	16
#define SFT_FRAME_SLOT_RET	12
/* Bytes of the second row. */
#define SFT_FRAME_ROW_LEN	8
#define SFT_FRAME_SIZE(nr)	(16 + (nr) % 14 * 16)

static inline void sft_put_frame_slot(__u8 *code, struct sft_row *rows,
				      int size)
{
	const __u32 insns[SFT_SLOT / 4] = {
		0xa9807bfd | (-size / 8 & 0x7f) << 15, 0x910003fd, SFT_BLR_X9,
		0xa8c07bfd | size / 8 << 15, SFT_RET,
	};

	memcpy(code, insns, sizeof(insns));
	rows[0] = (struct sft_row)SFT_ROW_LR(0);
	rows[1] = (struct sft_row)SFT_ROW_RA_FP(4, 1, size, 8 - size, -size);
	rows[1].info |= SFT_WORD2;
	rows[2] = (struct sft_row)SFT_ROW_LR(16);
}

/* One slot in a mapping of two pages; the target's address is in the second. */
#define SFT_SLOT_MAP	(2 * SFT_PAGE)

static inline __u8 *sft_make_slot(const struct sft_slot *kind,
				  const void *target)
{
	__u8 *text = sft_map_code(kind->code, SFT_SLOT, SFT_SLOT_MAP);

	if (!text || mprotect(text + SFT_PAGE, SFT_PAGE, SFT_RW))
		return NULL;
	memcpy(text + SFT_PAGE, &target, sizeof(target));
	return text;
}

/* bti c; stp x29, x30, [sp, #-16]!; mov x29, sp; nop; ldp ...; ret */
static const __u8 sft_leaf_insns[] __maybe_unused = { 0, 4, 8, 12, 16, 20 };
static const struct sft_row sft_leaf_rows[] __maybe_unused = {
	SFT_ROW_LR(0), SFT_ROW_RA_FP(8, 1, 16, -8, -16),
	SFT_ROW_RA_FP(12, 0, 16, -8, -16), SFT_ROW_LR(20),
};

/*
 * 0: stp x29, x30, [sp, #-16]!; 4: mov x29, sp; 8: blr x9, at the end, as its
 * callee does not return. At 12 another function begins: nop; ret.
 */
static const __u32 sft_noreturn_code[] __maybe_unused = {
	0xa9bf7bfd, 0x910003fd, SFT_BLR_X9, 0xd503201f, SFT_RET,
};

#define SFT_NORETURN_SIZE	12
#define SFT_NORETURN_CALL	8
#define SFT_NEXT_SIZE		8

static const struct sft_row sft_noreturn_rows[] __maybe_unused = {
	SFT_ROW_LR(0), SFT_ROW_RA_FP(4, 1, 16, -8, -16),
};

static const struct sft_row sft_next_rows[] __maybe_unused = { SFT_ROW_LR(0) };

/* stp x29, x30, [sp, #-16]!; mov x29, x9; nop; ldp x29, x30, [sp], #16; ret */
static const __u32 sft_fp_code[] __maybe_unused = {
	0xa9bf7bfd, 0xaa0903fd, 0xd503201f, 0xa8c17bfd, SFT_RET,
};

#define SFT_FP_CODE_NOP		8
/* The CFA there, from the stack pointer. */
#define SFT_FP_CODE_CFA		16

/* The target of a frame pointer. */
struct sft_frame {
	__u64	fp, ra;
};

/* ret */
static const __u32 sft_ret_code[] __maybe_unused = { SFT_RET };

/* The slot that tests of signals interrupt. */
#define sft_slot_interrupted	sft_slot_record

/* Strip the signature as the kernel does from all addresses: xpaclri. */
static inline __u64 sft_strip(__u64 ip)
{
	register __u64 lr asm("x30") = ip;

	asm("hint #7" : "+r" (lr));
	return lr;
}

#endif /* SFRAME_SLOTS_H */
