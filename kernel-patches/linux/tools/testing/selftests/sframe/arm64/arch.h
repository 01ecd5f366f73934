/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Machine-dependent parts of the SFrame window tests.
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
/* Rows store CFA offsets divided by this. */
#define SFT_CFA_SCALE	1
/* Does the highest byte of a number come first? */
#define SFT_BIG_ENDIAN	0
/* Maximum number of words in a row of the DEFAULT type. */
#define SFT_ROW_WORDS	3
/*
 * DWARF numbers: stack pointer, frame pointer, link register if there is one,
 * and the register that holds the target of a struct sft_call.
 */
#define SFT_REGNUM_SP		31
#define SFT_REGNUM_FP		29
#define SFT_REGNUM_LR		30
#define SFT_REGNUM_TARGET	9
/* The first number without a register, a power of two. */
#define SFT_REGNUM_NONE		32
/* The kernel accepts only multiples of this as code addresses. */
#define SFT_CODE_ALIGN	1
/* perf has breakpoint events at instructions: nothing is traced. */
#define SFT_TRACED	0
/* bp_len of a breakpoint event at an instruction. */
#define SFT_BREAK_LEN	HW_BREAKPOINT_LEN_4
/* Where user space ends, with addresses of 48 and of 52 bits. */
#define SFT_USER_END_SMALL	0x1000000000000UL
#define SFT_USER_END_LARGE	0x10000000000000UL
/* The kernel's configuration decides which of the two is the limit. */
#define SFT_USER_END_UNKNOWN
/* Above all that mmap() maps without an address. */
#define SFT_HIGH	0xffffffe00000
/* A register that is neither stack nor frame pointer. */
#define SFT_OTHER_REG	10
/* The interrupted address in a ucontext_t. */
#define SFT_UC_PC(uc)	((uc)->uc_mcontext.pc)

/* Must frame pointers increase for perf without windows? */
#define SFT_FP_GOES_UP	1
/* Does a frame pointer to code end the stack? */
#define SFT_LOST_ENDS	0
/* Is the instruction before this address BL or BLR? */
#define SFT_IS_CALL(at)							\
	(((at)[-1] & 0xfc) == 0x94 ||					\
	 ((at)[-1] == 0xd6 && (at)[-2] == 0x3f))
/* A goroutine starts here: MOV x0, x0, then BL. */
#define SFT_STARTS_STACK(at)						\
	((at)[-1] == 0xaa && !(at)[-2] && (at)[-3] == 3 &&		\
	 (at)[-4] == 0xe0 && ((at)[3] & 0xfc) == 0x94)

/* At a return the frame is gone, and the walk misses the caller. */
#define SFT_RETURNING	SFT_LOST
/* The kernel counts steps by frame pointer that find no frame. */
#define SFT_FP_COUNTED	1
/* Callers after a restorer without window: a frame record has lr. */
#define SFT_INTERRUPTED_LOST	SFT_CALLERS
/* The same if the handler ran on a stack at a higher address. */
#define SFT_OTHER_STACK_LOST	SFT_CALLERS
/*
 * Made-up frames: offset of the return address from the caller's stack pointer;
 * bytes of the smallest frame; offset of the caller's stack pointer from the
 * target of sft_onto.
 */
#define SFT_RA_FROM_SP	-8
#define SFT_TINY_FRAME	16
#define SFT_ONTO_SP	32
/* Reason why walks end at a claimed signal frame that has only zeros. */
#define SFT_NO_SIGNAL	"return_address"
/* Number of windows that sft_register_callees() registers. */
#define SFT_CALLEES	2
/*
 * First instruction of a handler at which events come: the kernel steps over
 * the one before if the handler was entered at an event. It also steps over
 * code that sigreturn leaves, where the task would be stuck.
 */
#define SFT_HANDLER_FIRST	1
#define SFT_NO_EVENTS_IN_RESTORER
/* Probes make the kernel step, too. */
#define SFT_NO_PROBES_OF_HANDLERS

/* Addresses outside the user space of any program. */
static const __u64 sft_no_user[] __maybe_unused = {
	1UL << 63, 0xdead000000000000, 0xffff000000000000,
	0xffff800080000000,
};

#endif /* SFRAME_TEST_ARCH_H */
