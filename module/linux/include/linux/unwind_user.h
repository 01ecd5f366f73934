/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_UNWIND_USER_H
#define _LINUX_UNWIND_USER_H

#include <linux/unwind_user_types.h>
#include <asm/unwind_user.h>

#ifndef CONFIG_HAVE_UNWIND_USER_FP

#define ARCH_INIT_USER_FP_FRAME(ws)

#endif

#ifndef ARCH_INIT_USER_FP_ENTRY_FRAME
#define ARCH_INIT_USER_FP_ENTRY_FRAME(ws)
#endif

#ifndef unwind_user_at_function_start
static inline bool unwind_user_at_function_start(struct pt_regs *regs)
{
	return false;
}
#define unwind_user_at_function_start unwind_user_at_function_start
#endif

#ifndef unwind_user_reg
static inline bool unwind_user_reg(struct pt_regs *regs, unsigned int regnum,
				   unsigned long *val)
{
	return false;
}

#define unwind_user_reg unwind_user_reg
#endif

#ifndef unwind_user_lr
static inline unsigned long unwind_user_lr(struct pt_regs *regs)
{
	return 0;
}

#define unwind_user_lr unwind_user_lr
#endif

/* The stack pointer at a function's entry, as in return_instance. */
#ifndef unwind_user_ra_slot
static inline unsigned long unwind_user_ra_slot(unsigned long cfa,
						unsigned int ws)
{
	return cfa;
}

#define unwind_user_ra_slot unwind_user_ra_slot
#endif

#ifndef unwind_user_strip_ra
static inline unsigned long unwind_user_strip_ra(unsigned long ra)
{
	return ra;
}

#define unwind_user_strip_ra unwind_user_strip_ra
#endif

int unwind_user(struct unwind_stacktrace *trace, unsigned int max_entries);

#endif /* _LINUX_UNWIND_USER_H */
