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
#define SFT_RA_OFF	0
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
/* What is left where the interrupted frame is lost: a frame record tells lr. */
#define SFT_INTERRUPTED_LOST	SFT_CALLERS
/* And where the handler had a stack of its own, above. */
#define SFT_OTHER_STACK_LOST	((uintptr_t)sft_inner_ret)
/*
 * First instruction of a handler at which events come: the kernel steps over
 * the one before, if it was entered at an event. So it does over code that
 * sigreturn leaves, at which the task would stay.
 */
#define SFT_HANDLER_FIRST	1
#define SFT_NO_EVENTS_IN_RESTORER
/* Probes make the kernel step, too. */
#define SFT_NO_PROBES_OF_HANDLERS

#endif /* SFRAME_TEST_ARCH_H */
