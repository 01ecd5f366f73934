/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the KUnit suites of SFrame windows have to know of x86-64.
 */
#ifndef _ASM_X86_UNWIND_USER_KUNIT_H
#define _ASM_X86_UNWIND_USER_KUNIT_H

#include <linux/compiler.h>
#include <linux/string.h>

#include <asm/ptrace.h>
#include <asm/segment.h>

/* A general register that rows may name, and a number that is of none. */
#define UNWIND_USER_KUNIT_REG		10
#define UNWIND_USER_KUNIT_NO_REG	16

/* Registers of a task of the kernel's word size. */
static inline void unwind_user_kunit_regs(struct pt_regs *regs,
					  unsigned long ip, unsigned long sp,
					  unsigned long fp, unsigned long reg)
{
	memset(regs, 0, sizeof(*regs));
	regs->cs = __USER_CS;
	regs->ip = ip;
	regs->sp = sp;
	regs->bp = fp;
	regs->r10 = reg;
}

/*
 * In a signal frame: the mode of such a task, and others. What is behind the
 * segment in its word is another one.
 */
#define UNWIND_USER_KUNIT_MODE		(__USER_CS | 0xfedcUL << 16)
static const unsigned long unwind_user_kunit_other_modes[] __maybe_unused = {
	0xfedcUL << 16, __USER32_CS | 0xfedcUL << 16,
	__KERNEL_CS | 0xfedcUL << 16, __USER_DS | 0xfedcUL << 16,
};

/* Instructions, the last one of which is a call. */
#define UNWIND_USER_KUNIT_CALL	{ 0x90, 0x90, 0x90, 0xe8, 0x11, 0x22, 0x33, 0x44 }
/* The same where stacks start, eight bytes from the return address on. */
#define UNWIND_USER_KUNIT_START	{ [7] = 0x90, 0xe8, 0x11, 0x22, 0x33, 0x44 }

#endif /* _ASM_X86_UNWIND_USER_KUNIT_H */
