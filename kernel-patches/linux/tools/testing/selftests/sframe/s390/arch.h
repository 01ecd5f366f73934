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
#define SFT_RA_OFF	0
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
/* What is left where the interrupted frame is lost: it has a save area. */
#define SFT_INTERRUPTED_LOST	SFT_CALLERS
/* And where the handler had a stack of its own, above. */
#define SFT_OTHER_STACK_LOST	0
/* First instruction of a handler at which events come. */
#define SFT_HANDLER_FIRST	0
/* Breakpoints are there already. */
#define SFT_NO_PROBES_OF_HANDLERS
/* Walks fall back on back chains. */
#define SFT_BACK_CHAIN
/* Signal frames have two forms. */
#define SFT_PLAIN_RESTORER

#endif /* SFRAME_TEST_ARCH_H */
