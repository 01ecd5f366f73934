/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Machine-dependent parts of the SFrame window tests.
 */
#ifndef SFRAME_TEST_ARCH_H
#define SFRAME_TEST_ARCH_H

#define SFT_ABI		SFRAME_ABI_AMD64_LE
#define SFT_OTHER_ABI	SFRAME_ABI_AARCH64_LE
#define SFT_THIRD_ABI	SFRAME_ABI_S390X_BE
#define SFT_UNIT_SHIFT	0	/* instructions are at multiples of 1 << this */
#define SFT_RA_OFF	-8
/* How far the CFA is above the stack pointer of the caller. */
#define SFT_SAVE_AREA	0
/* Rows store CFA offsets divided by this. */
#define SFT_CFA_SCALE	1
/* Does the highest byte of a number come first? */
#define SFT_BIG_ENDIAN	0
/* Maximum number of words in a row of the DEFAULT type. */
#define SFT_ROW_WORDS	2
/*
 * DWARF numbers: stack pointer, frame pointer, link register if there is one,
 * and the register that holds the target of a struct sft_call.
 */
#define SFT_REGNUM_SP		7
#define SFT_REGNUM_FP		6
#define SFT_REGNUM_THIRD	3	/* rbx: walks follow it */
#define SFT_REGNUM_LR		0xffffffffU
#define SFT_REGNUM_TARGET	9
/* The first number without a register, a power of two. */
#define SFT_REGNUM_NONE		16
/* The kernel accepts only multiples of this as code addresses. */
#define SFT_CODE_ALIGN	1
/* perf has breakpoint events at instructions: nothing is traced. */
#define SFT_TRACED	0
/* bp_len of a breakpoint event at an instruction. */
#define SFT_BREAK_LEN	sizeof(long)
/* Where user space ends, with 4 and with 5 levels of page tables. */
#define SFT_USER_END_SMALL	0x7ffffffff000UL
#define SFT_USER_END_LARGE	0xfffffffffff000UL
/* Above all that mmap() maps without an address. */
#define SFT_HIGH	0x7fffffe00000
/* A register that is neither stack nor frame pointer. */
#define SFT_OTHER_REG	10
/* Handlers return to code of the C library. */
#define SFT_LIBC_RESTORER
/* The interrupted address in a ucontext_t. */
#define SFT_UC_PC(uc)	((uc)->uc_mcontext.gregs[REG_RIP])

/* Must frame pointers increase for perf without windows? */
#define SFT_FP_GOES_UP	0
/* Does a frame pointer to code end the stack? */
#define SFT_LOST_ENDS	0
/* Is a call before this address? Covers only the forms that tests use. */
#define SFT_IS_CALL(at)		((at)[-5] == 0xe8 || sft_is_indirect_call(at))
#define SFT_STARTS_STACK(at)	((at)[-1] == 0x90 && *(at) == 0xe8)
static inline bool sft_is_indirect_call(const __u8 *at)
{
	return (at[-2] == 0xff && (at[-1] & 0xf8) == 0xd0) ||
	       (at[-2] == 0xff && (at[-1] & 0xf8) == 0x10 &&
		(at[-1] & 7) != 4 && (at[-1] & 7) != 5) ||
	       (at[-3] == 0xff && (at[-2] & 0xf8) == 0x50 &&
		(at[-2] & 7) != 4);
}

/* At a return the frame is gone, which the kernel detects. */
#define SFT_RETURNING	SFT_CALLERS
/* The kernel counts steps by frame pointer that find no frame. */
#define SFT_FP_COUNTED	1
/* Callers after a restorer without window. */
#define SFT_INTERRUPTED_LOST	SFT_LOST
/* The same if the handler ran on a stack at a higher address. */
#define SFT_OTHER_STACK_LOST	SFT_LOST
/*
 * Made-up frames: offset of the return address from the caller's stack pointer;
 * bytes of the smallest frame; offset of the caller's stack pointer from the
 * target of sft_onto.
 */
#define SFT_RA_FROM_SP	-8
#define SFT_TINY_FRAME	8
#define SFT_ONTO_SP	8
/* Reason why walks end at a claimed signal frame that has only zeros. */
#define SFT_NO_SIGNAL	"signal"
/* Number of windows that sft_register_callees() registers. */
#define SFT_CALLEES	0
/* First instruction of a handler at which events come. */
#define SFT_HANDLER_FIRST	0

/* Addresses outside the user space of any program. */
static const __u64 sft_no_user[] __maybe_unused = {
	1UL << 63, 0xdead000000000000, 0xffff800000000000,
	0xffffffff81000000,
};

#endif /* SFRAME_TEST_ARCH_H */
