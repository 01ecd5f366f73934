/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Machine-dependent parts of the SFrame window tests.
 */
#ifndef SFRAME_TEST_ARCH_H
#define SFRAME_TEST_ARCH_H

#define SFT_ABI		SFRAME_ABI_S390X_BE
#define SFT_OTHER_ABI	SFRAME_ABI_AMD64_LE
#define SFT_THIRD_ABI	SFRAME_ABI_AARCH64_LE
#define SFT_UNIT_SHIFT	1	/* instructions are at multiples of 1 << this */
#define SFT_RA_OFF	0
/* How far the CFA is above the stack pointer of the caller. */
#define SFT_SAVE_AREA	160
/* Rows store CFA offsets divided by this. */
#define SFT_CFA_SCALE	8
/* Does the highest byte of a number come first? */
#define SFT_BIG_ENDIAN	1
/* Maximum number of words in a row of the DEFAULT type. */
#define SFT_ROW_WORDS	3
/*
 * DWARF numbers: stack pointer, frame pointer, link register if there is one,
 * and the register that holds the target of a struct sft_call.
 */
#define SFT_REGNUM_SP		15
#define SFT_REGNUM_FP		11
#define SFT_REGNUM_LR		14
#define SFT_REGNUM_TARGET	1
/* The first number without a register, a power of two. */
#define SFT_REGNUM_NONE		32
/* The kernel accepts only multiples of this as code addresses. */
#define SFT_CODE_ALIGN	2
/* perf has no events at instructions: break.c traces and sets breakpoints. */
#define SFT_TRACED	1
#define SFT_BREAK_INSN	0x0001UL
#define SFT_BREAK_SIZE	2
/* PTRACE_PEEKUSER offset of the address of the next instruction. */
#define SFT_PEEK_IP	8
/* Where user space ends: all addresses are its own. */
#define SFT_USER_END_SMALL	0xfffffffffffff000UL
#define SFT_USER_END_LARGE	0xfffffffffffff000UL
/* Above all that mmap() maps without an address. */
#define SFT_HIGH	0x80000000000
/* A register that is neither stack nor frame pointer. */
#define SFT_OTHER_REG	10
/* The interrupted address in a ucontext_t. */
#define SFT_UC_PC(uc)	((uc)->uc_mcontext.psw.addr)

/* Without windows, perf requires increasing back chains; 0 ends the stack. */
#define SFT_FP_GOES_UP	1
#define SFT_LOST_ENDS	1
/* At a return the frame is gone, and the walk misses the caller. */
#define SFT_RETURNING	SFT_LOST
/* The kernel cannot tell where a back chain should end. */
#define SFT_FP_COUNTED	0
/* Callers after a restorer without window: the frame has a save area. */
#define SFT_INTERRUPTED_LOST	SFT_CALLERS
/* The same if the handler ran on a stack at a higher address. */
#define SFT_OTHER_STACK_LOST	0
/*
 * Made-up frames: offset of the return address from the caller's stack pointer;
 * bytes of the smallest frame; offset of the caller's stack pointer from the
 * target of sft_onto.
 */
#define SFT_RA_FROM_SP	112
#define SFT_TINY_FRAME	16
#define SFT_ONTO_SP	0
/* Reason why walks end at a claimed signal frame that has only zeros. */
#define SFT_NO_SIGNAL	"signal"
/* Number of windows that sft_register_callees() registers. */
#define SFT_CALLEES	0
/* First instruction of a handler at which events come. */
#define SFT_HANDLER_FIRST	0
/* The tests have breakpoints there already. */
#define SFT_NO_PROBES_OF_HANDLERS
/* Walks fall back to back chains. */
#define SFT_BACK_CHAIN
/* Signal frames have two forms. */
#define SFT_PLAIN_RESTORER

/* Addresses outside the user space of any program. */
static const __u64 sft_no_user[] __maybe_unused = {
	SFT_USER_END_LARGE,
};

#endif /* SFRAME_TEST_ARCH_H */
