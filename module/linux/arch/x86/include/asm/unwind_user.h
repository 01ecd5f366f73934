/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_UNWIND_USER_H
#define _ASM_X86_UNWIND_USER_H

#ifdef CONFIG_UNWIND_USER

#include <linux/elf.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include <asm/ptrace.h>
#include <asm/uprobes.h>

static inline int unwind_user_word_size(struct pt_regs *regs)
{
	/* We can't unwind VM86 stacks */
	if (regs->flags & X86_VM_MASK)
		return 0;
	return user_64bit_mode(regs) ? 8 : 4;
}

/* The general purpose registers by DWARF number. 16 is RA, not one of them. */
static __always_inline bool
unwind_user_reg(struct pt_regs *regs, unsigned int regnum, unsigned long *val)
{
#ifdef CONFIG_X86_64
	static const u8 offsets[] = {
		offsetof(struct pt_regs, ax), offsetof(struct pt_regs, dx),
		offsetof(struct pt_regs, cx), offsetof(struct pt_regs, bx),
		offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
		offsetof(struct pt_regs, bp), offsetof(struct pt_regs, sp),
		offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
		offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
		offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
		offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
	};

	if (regnum < ARRAY_SIZE(offsets)) {
		/* The number comes from a table in user memory. */
		regnum = array_index_nospec(regnum, ARRAY_SIZE(offsets));
		/* The mask keeps UBSAN from adding a call, invalid here. */
		*val = regs_get_register(regs, offsets[regnum & 15]);
		return true;
	}
#endif
	return false;
}

#define unwind_user_reg unwind_user_reg

/* rbx: glibc's _dl_runtime_resolve() bases its CFA on it. */
#define UNWIND_USER_REGNUM_THIRD	3

static inline unsigned long unwind_user_ra_slot(unsigned long cfa,
						unsigned int ws)
{
	return cfa - ws;
}

#define unwind_user_ra_slot unwind_user_ra_slot

#ifdef CONFIG_UNWIND_ASSIST
static inline unsigned long unwind_user_sigframe_size(void)
{
	return get_sigframe_size();
}

/* Is SYSCALL or INT 0x80 next, perhaps to run again? Assume so on a fault. */
static inline bool unwind_user_at_syscall(struct pt_regs *regs)
{
	u8 insn[2];

	return copy_from_user(insn, (void __user *)regs->ip, sizeof(insn)) ||
	       (insn[0] == 0x0f && insn[1] == 0x05) ||
	       (insn[0] == 0xcd && insn[1] == 0x80);
}
#endif

#endif /* CONFIG_UNWIND_USER */

#ifdef CONFIG_HAVE_UNWIND_USER_FP

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

#define ARCH_INIT_USER_FP_ENTRY_FRAME(ws)				\
	.cfa = {							\
		.from	= UNWIND_USER_FROM_SP,				\
		.off	= 1 * (ws),					\
	},								\
	.ra = {								\
		.from	= UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF,	\
		.off	= -1 * (ws),					\
	},

static inline bool unwind_user_at_function_start(struct pt_regs *regs)
{
	return is_uprobe_at_func_entry(regs);
}
#define unwind_user_at_function_start unwind_user_at_function_start

#endif /* CONFIG_HAVE_UNWIND_USER_FP */

#endif /* _ASM_X86_UNWIND_USER_H */
