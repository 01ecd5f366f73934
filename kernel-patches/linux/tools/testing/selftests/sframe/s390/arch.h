/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the tests of SFrame windows have to know of the machine.
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
/* What offsets of CFAs are divided by. */
#define SFT_CFA_SCALE	8
/* Does the highest byte of a number come first? */
#define SFT_BIG_ENDIAN	1
/* Words that rows of the DEFAULT type have at most. */
#define SFT_ROW_WORDS	3
/*
 * DWARF numbers: stack pointer, frame pointer, link register if there is one,
 * where the target of a call is.
 */
#define SFT_REGNUM_SP		15
#define SFT_REGNUM_FP		11
#define SFT_REGNUM_LR		14
#define SFT_REGNUM_TARGET	1
/* The first number without a register, a power of two. */
#define SFT_REGNUM_NONE		32
/* What addresses of code are a multiple of for the kernel. */
#define SFT_CODE_ALIGN	2
/* Events are not at instructions: code is traced, and has breakpoints. */
#define SFT_TRACED	1
#define SFT_BREAK_INSN	0x0001UL
#define SFT_BREAK_SIZE	2
/* Where the address of the next instruction is for PTRACE_PEEKUSER. */
#define SFT_PEEK_IP	8
/* Where user space ends: all addresses are its own. */
#define SFT_USER_END_SMALL	0xfffffffffffff000UL
#define SFT_USER_END_LARGE	0xfffffffffffff000UL
/* Above what is mapped without an address. */
#define SFT_HIGH	0x80000000000
/* Neither stack nor frame pointer. */
#define SFT_OTHER_REG	10
/* Where a signal interrupted, of a ucontext_t. */
#define SFT_UC_PC(uc)	((uc)->uc_mcontext.psw.addr)

/* Without windows, perf has back chains go up, and 0 ends the stack. */
#define SFT_FP_GOES_UP	1
#define SFT_LOST_ENDS	1
/* A function that returns has no frame. */
#define SFT_RETURNING	SFT_LOST
/* Where back chains end cannot be told. */
#define SFT_FP_COUNTED	0
/* What is left where the interrupted frame is lost: it has a save area. */
#define SFT_INTERRUPTED_LOST	SFT_CALLERS
/* And where the handler had a stack of its own, above. */
#define SFT_OTHER_STACK_LOST	0
/*
 * Made-up frames: where the return address is, from the stack pointer of the
 * caller; bytes of the smallest one; where the first one behind sft_onto is.
 */
#define SFT_RA_FROM_SP	112
#define SFT_TINY_FRAME	16
#define SFT_ONTO_SP	0
/* Why walks end where a signal frame is said to be, and zeros are. */
#define SFT_NO_SIGNAL	"signal"
/* Windows that sft_register_callees() makes. */
#define SFT_CALLEES	0
/* First instruction of a handler at which events come. */
#define SFT_HANDLER_FIRST	0
/* Breakpoints are there already. */
#define SFT_NO_PROBES_OF_HANDLERS
/* Walks fall back on back chains. */
#define SFT_BACK_CHAIN
/* Signal frames have two forms. */
#define SFT_PLAIN_RESTORER

/* Addresses that are not in user space, or in that of no program. */
static const __u64 sft_no_user[] __maybe_unused = {
	SFT_USER_END_LARGE,
};

#endif /* SFRAME_TEST_ARCH_H */
