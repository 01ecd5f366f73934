/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_ARM64_UNWIND_USER_H
#define _ASM_ARM64_UNWIND_USER_H

#ifdef CONFIG_UNWIND_USER

#include <linux/nospec.h>
#include <linux/uaccess.h>

#include <asm/compiler.h>
#include <asm/insn.h>
#include <asm/ptrace.h>

/* AArch32 frames differ, and have no tables. */
static inline int unwind_user_word_size(struct pt_regs *regs)
{
	return compat_user_mode(regs) ? 0 : sizeof(long);
}

/* The general purpose registers by DWARF number. 31 is SP, not one of them. */
static __always_inline bool
unwind_user_reg(struct pt_regs *regs, unsigned int regnum, unsigned long *val)
{
	if (regnum >= ARRAY_SIZE(regs->regs))
		return false;
	/* The number comes from a table in user memory. */
	*val = regs->regs[array_index_nospec(regnum, ARRAY_SIZE(regs->regs))];
	return true;
}

#define unwind_user_reg unwind_user_reg

static inline unsigned long unwind_user_lr(struct pt_regs *regs)
{
	return procedure_link_pointer(regs);
}

#define unwind_user_lr unwind_user_lr

/* Strip a signature by either key. Unsigned addresses do not change. */
static __always_inline unsigned long unwind_user_strip_ra(unsigned long ra)
{
	return ptrauth_strip_user_insn_pac(ra);
}

#define unwind_user_strip_ra unwind_user_strip_ra

#ifdef CONFIG_UNWIND_ASSIST
static inline unsigned long unwind_user_sigframe_size(void)
{
	return signal_minsigstksz;
}

/*
 * Is SVC the next instruction? It may be about to run again: do_signal()
 * forgets the system call before it looks for signals. If the instruction
 * cannot be read, assume that it is SVC.
 */
static inline bool unwind_user_at_syscall(struct pt_regs *regs)
{
	__le32 insn;

	return copy_from_user(&insn, (void __user *)regs->pc, sizeof(insn)) ||
	       aarch64_insn_is_svc(le32_to_cpu(insn));
}
#endif

#endif /* CONFIG_UNWIND_USER */

#ifdef CONFIG_HAVE_UNWIND_USER_FP

/*
 * A frame record may be anywhere in its frame: registers and locals may be
 * above or below it.
 */
#define UNWIND_USER_FP_GIVES_SP		0

#define ARCH_INIT_USER_FP_FRAME(ws)					\
	.cfa = {							\
		.from	= UNWIND_USER_FROM_FP,				\
		.off	= 2 * (ws),					\
	},								\
	.ra = {								\
		.from	= UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF,	\
		.off	= -1 * (ws),					\
	},								\
	.fp = {								\
		.from	= UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF,	\
		.off	= -2 * (ws),					\
	},

#endif /* CONFIG_HAVE_UNWIND_USER_FP */

#endif /* _ASM_ARM64_UNWIND_USER_H */
