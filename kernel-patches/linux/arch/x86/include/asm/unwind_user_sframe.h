/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The meaning of SFrame tables, and the layout of a signal frame, on x86-64.
 */
#ifndef _ASM_X86_UNWIND_USER_SFRAME_H
#define _ASM_X86_UNWIND_USER_SFRAME_H

#include <linux/build_bug.h>
#include <linux/signal_types.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>

/* The return address is always at CFA - 8. Registers have DWARF numbers. */
#define UNWIND_USER_SFRAME_ABI		SFRAME_ABI_AMD64_LE
#define UNWIND_USER_SFRAME_RA_OFF	-8
#define UNWIND_USER_SFRAME_SIGNS_RA	0
#define UNWIND_USER_REGNUM_FP		6
#define UNWIND_USER_REGNUM_SP		7

/*
 * A handler returns to code that calls rt_sigreturn(). The return has popped
 * pretcode off the struct rt_sigframe, so the stack pointer is then at the
 * struct ucontext.
 */
#define UNWIND_USER_SIGNAL_REG(reg)	\
	offsetof(struct ucontext, uc_mcontext.reg)
#define UNWIND_USER_SIGNAL_IP		UNWIND_USER_SIGNAL_REG(ip)
#define UNWIND_USER_SIGNAL_SP		UNWIND_USER_SIGNAL_REG(sp)
#define UNWIND_USER_SIGNAL_FP		UNWIND_USER_SIGNAL_REG(bp)
#define UNWIND_USER_SIGNAL_THIRD	UNWIND_USER_SIGNAL_REG(bx)
/* cs is the lowest part of this word. */
#define UNWIND_USER_SIGNAL_MODE		UNWIND_USER_SIGNAL_REG(cs)

static inline bool unwind_user_signal_native(unsigned long mode)
{
	struct pt_regs interrupted = { .cs = (u16)mode };

	return user_64bit_mode(&interrupted);
}

#endif /* _ASM_X86_UNWIND_USER_SFRAME_H */
