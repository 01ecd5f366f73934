/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86-64 definitions for the KUnit suites of SFrame windows.
 */
#ifndef _ASM_X86_UNWIND_USER_KUNIT_H
#define _ASM_X86_UNWIND_USER_KUNIT_H

#include <linux/compiler.h>
#include <linux/string.h>

#include <asm/ptrace.h>
#include <asm/segment.h>

/* A general register that rows may name, and a number that names none. */
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
 * Modes in a signal frame: that of such a task, and others. The rest of the
 * word after cs belongs to other segments.
 */
#define UNWIND_USER_KUNIT_MODE		(__USER_CS | 0xfedcUL << 16)
static const unsigned long unwind_user_kunit_other_modes[] __maybe_unused = {
	0xfedcUL << 16, __USER32_CS | 0xfedcUL << 16,
	__KERNEL_CS | 0xfedcUL << 16, __USER_DS | 0xfedcUL << 16,
};

/* Instructions that end in a call. */
#define UNWIND_USER_KUNIT_CALL	{ 0x90, 0x90, 0x90, 0xe8, 0x11, 0x22, 0x33, 0x44 }
/* The start of a stack. The return address is that of byte 8. */
#define UNWIND_USER_KUNIT_START	{ [7] = 0x90, 0xe8, 0x11, 0x22, 0x33, 0x44 }

#endif /* _ASM_X86_UNWIND_USER_KUNIT_H */
