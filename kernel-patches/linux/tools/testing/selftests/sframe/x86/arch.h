/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the tests of SFrame windows have to know of the machine.
 */
#ifndef SFRAME_TEST_ARCH_H
#define SFRAME_TEST_ARCH_H

#define SFT_ABI		SFRAME_ABI_AMD64_LE
#define SFT_OTHER_ABI	SFRAME_ABI_AARCH64_LE
#define SFT_THIRD_ABI	SFRAME_ABI_S390X_BE
#define SFT_RA_OFF	-8
/* Events are at instructions. */
#define SFT_TRACED	0
/* Length of an event at an instruction. */
#define SFT_BREAK_LEN	sizeof(long)
/* Where user space ends, with 4 and with 5 levels of page tables. */
#define SFT_USER_END_SMALL	0x7ffffffff000UL
#define SFT_USER_END_LARGE	0xfffffffffff000UL
/* Above what is mapped without an address. */
#define SFT_HIGH	0x7fffffe00000
/* Neither stack nor frame pointer. */
#define SFT_OTHER_REG	10
/* The C library has code that handlers return to. */
#define SFT_LIBC_RESTORER
/* Where a signal interrupted, of a ucontext_t. */
#define SFT_UC_PC(uc)	((uc)->uc_mcontext.gregs[REG_RIP])

/* Without windows, perf has frame pointers go up. */
#define SFT_FP_GOES_UP	0
/* Nor does a frame pointer to code end the stack. */
#define SFT_LOST_ENDS	0
/* What is left where the interrupted frame is lost. */
#define SFT_INTERRUPTED_LOST	SFT_LOST
/* And where the handler had a stack of its own, above. */
#define SFT_OTHER_STACK_LOST	0
/* First instruction of a handler at which events come. */
#define SFT_HANDLER_FIRST	0

#endif /* SFRAME_TEST_ARCH_H */
