/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the tests of SFrame windows have to know of the machine.
 */
#ifndef SFRAME_TEST_ARCH_H
#define SFRAME_TEST_ARCH_H

#define SFT_ABI		SFRAME_ABI_AARCH64_LE
#define SFT_OTHER_ABI	SFRAME_ABI_AMD64_LE
#define SFT_THIRD_ABI	SFRAME_ABI_S390X_BE
#define SFT_UNIT_SHIFT	2	/* instructions are at multiples of 1 << this */
#define SFT_RA_OFF	0
/* How far the CFA is above the stack pointer of the caller. */
#define SFT_SAVE_AREA	0
/* What offsets of CFAs are divided by. */
#define SFT_CFA_SCALE	1
/* Does the highest byte of a number come first? */
#define SFT_BIG_ENDIAN	0
/* Words that rows of the DEFAULT type have at most. */
#define SFT_ROW_WORDS	3
/*
 * DWARF numbers: stack pointer, frame pointer, link register if there is one,
 * where the target of a call is.
 */
#define SFT_REGNUM_SP		31
#define SFT_REGNUM_FP		29
#define SFT_REGNUM_LR		30
#define SFT_REGNUM_TARGET	9
/* The first number without a register, a power of two. */
#define SFT_REGNUM_NONE		32
/* What addresses of code are a multiple of for the kernel. */
#define SFT_CODE_ALIGN	1
/* Events are at instructions. */
#define SFT_TRACED	0
/* Length of an event at an instruction. */
#define SFT_BREAK_LEN	HW_BREAKPOINT_LEN_4
/* Where user space ends, with addresses of 48 and of 52 bits. */
#define SFT_USER_END_SMALL	0x1000000000000UL
#define SFT_USER_END_LARGE	0x10000000000000UL
/* Which of the two limits addresses is a matter of how the kernel was built. */
#define SFT_USER_END_UNKNOWN
/* Above what is mapped without an address. */
#define SFT_HIGH	0xffffffe00000
/* Neither stack nor frame pointer. */
#define SFT_OTHER_REG	10
/* Where a signal interrupted, of a ucontext_t. */
#define SFT_UC_PC(uc)	((uc)->uc_mcontext.pc)

/* Without windows, perf has frame pointers go up. */
#define SFT_FP_GOES_UP	1
/* Nor does a frame pointer to code end the stack. */
#define SFT_LOST_ENDS	0
/* Is a call before this address, BL or BLR? */
#define SFT_IS_CALL(at)							\
	(((at)[-1] & 0xfc) == 0x94 ||					\
	 ((at)[-1] == 0xd6 && (at)[-2] == 0x3f))
/* MOV x0, x0, and BL */
#define SFT_STARTS_STACK(at)						\
	((at)[-1] == 0xaa && !(at)[-2] && (at)[-3] == 3 &&		\
	 (at)[-4] == 0xe0 && ((at)[3] & 0xfc) == 0x94)

/* A function that returns has no frame. */
#define SFT_RETURNING	SFT_LOST
/* Steps by frame pointer that find no frame are counted. */
#define SFT_FP_COUNTED	1
/* What is left where the interrupted frame is lost: a frame record tells lr. */
#define SFT_INTERRUPTED_LOST	SFT_CALLERS
/* And where the handler had a stack of its own, above. */
#define SFT_OTHER_STACK_LOST	SFT_CALLERS
/*
 * Made-up frames: where the return address is, from the stack pointer of the
 * caller; bytes of the smallest one; where the first one behind sft_onto is.
 */
#define SFT_RA_FROM_SP	-8
#define SFT_TINY_FRAME	16
#define SFT_ONTO_SP	32
/* Why walks end where a signal frame is said to be, and zeros are. */
#define SFT_NO_SIGNAL	"return_address"
/* Windows that sft_register_callees() makes. */
#define SFT_CALLEES	2
/*
 * First instruction of a handler at which events come: the kernel steps over
 * the one before, if it was entered at an event. So it does over code that
 * sigreturn leaves, at which the task would stay.
 */
#define SFT_HANDLER_FIRST	1
#define SFT_NO_EVENTS_IN_RESTORER
/* Probes make the kernel step, too. */
#define SFT_NO_PROBES_OF_HANDLERS

/* Addresses that are not in user space, or in that of no program. */
static const __u64 sft_no_user[] __maybe_unused = {
	1UL << 63, 0xdead000000000000, 0xffff000000000000,
	0xffff800080000000,
};

#endif /* SFRAME_TEST_ARCH_H */
