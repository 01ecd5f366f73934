/* SPDX-License-Identifier: GPL-2.0 */
/*
 * s390x definitions for the KUnit suites of SFrame windows.
 */
#ifndef _ASM_S390_UNWIND_USER_KUNIT_H
#define _ASM_S390_UNWIND_USER_KUNIT_H

#include <linux/compiler.h>
#include <linux/string.h>

#include <asm/ptrace.h>
#include <asm/unistd.h>

/* A general register that rows may name, and a number that names none. */
#define UNWIND_USER_KUNIT_REG		10
#define UNWIND_USER_KUNIT_NO_REG	32

/* Registers of a task of the kernel's word size. */
static inline void unwind_user_kunit_regs(struct pt_regs *regs,
					  unsigned long ip, unsigned long sp,
					  unsigned long fp, unsigned long reg)
{
	memset(regs, 0, sizeof(*regs));
	regs->psw.mask = PSW_USER_BITS | PSW_MASK_EA | PSW_MASK_BA;
	regs->psw.addr = ip;
	regs->gprs[15] = sp;
	regs->gprs[11] = fp;
	regs->gprs[10] = reg;
}

/* Modes in a signal frame: that of such a task, and others. */
#define UNWIND_USER_KUNIT_MODE		(PSW_MASK_EA | PSW_MASK_BA)
static const unsigned long unwind_user_kunit_other_modes[] __maybe_unused = {
	0, PSW_MASK_BA, PSW_MASK_EA,
};

/* The handler returns to this system call, which identifies its frame. */
#define UNWIND_USER_KUNIT_SIGRETURN	(0x0a00 | __NR_rt_sigreturn)

#endif /* _ASM_S390_UNWIND_USER_KUNIT_H */
