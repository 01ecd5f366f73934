/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arm64 definitions for the KUnit suites of SFrame windows.
 */
#ifndef _ASM_ARM64_UNWIND_USER_KUNIT_H
#define _ASM_ARM64_UNWIND_USER_KUNIT_H

#include <linux/compiler.h>
#include <linux/string.h>

#include <asm/ptrace.h>

/* A general register that rows may name, and a number that names none. */
#define UNWIND_USER_KUNIT_REG		10
#define UNWIND_USER_KUNIT_NO_REG	32

/* Registers of a task of the kernel's word size. */
static inline void unwind_user_kunit_regs(struct pt_regs *regs,
					  unsigned long ip, unsigned long sp,
					  unsigned long fp, unsigned long reg)
{
	memset(regs, 0, sizeof(*regs));
	regs->pstate = PSR_MODE_EL0t;
	regs->pc = ip;
	regs->sp = sp;
	regs->regs[29] = fp;
	regs->regs[10] = reg;
}

/* Modes in a signal frame: that of such a task, and others. */
#define UNWIND_USER_KUNIT_MODE		(PSR_MODE_EL0t | PSR_N_BIT)
static const unsigned long unwind_user_kunit_other_modes[] __maybe_unused = {
	PSR_MODE32_BIT, PSR_MODE32_BIT | PSR_Z_BIT,
	PSR_AA32_MODE_USR | PSR_N_BIT,
};

/* Instructions that end in a call. */
#define UNWIND_USER_KUNIT_CALL	{ 0x1f, 0x20, 0x03, 0xd5, 0x11, 0x22, 0x33, 0x94 }
/* The start of a stack. The return address is that of byte 8. */
#define UNWIND_USER_KUNIT_START	{ [4] = 0xe0, 0x03, 0x00, 0xaa, 0x11, 0x22, 0x33, 0x94 }

#endif /* _ASM_ARM64_UNWIND_USER_KUNIT_H */
