/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What SFrame tables of arm64 mean and how a signal frame looks there.
 */
#ifndef _ASM_ARM64_UNWIND_USER_SFRAME_H
#define _ASM_ARM64_UNWIND_USER_SFRAME_H

#include <linux/signal_types.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>

/*
 * The return address is where the row says, and may be signed; registers as
 * numbered by DWARF.
 */
#ifdef CONFIG_CPU_BIG_ENDIAN
#define UNWIND_USER_SFRAME_ABI		SFRAME_ABI_AARCH64_BE
#else
#define UNWIND_USER_SFRAME_ABI		SFRAME_ABI_AARCH64_LE
#endif
#define UNWIND_USER_SFRAME_RA_OFF	0
#define UNWIND_USER_SFRAME_UNIT_SHIFT	2
#define UNWIND_USER_SFRAME_SIGNS_RA	1
#define UNWIND_USER_REGNUM_FP		29
#define UNWIND_USER_REGNUM_LR		30
#define UNWIND_USER_REGNUM_SP		31

/*
 * The code that a handler returns to, which is to call rt_sigreturn(), has its
 * stack pointer at the struct rt_sigframe: a siginfo, and the struct ucontext.
 */
#define UNWIND_USER_SIGNAL_OFF(field)			\
	((s32)sizeof(struct siginfo) +			\
	 (s32)offsetof(struct ucontext, uc_mcontext.field))
#define UNWIND_USER_SIGNAL_IP		UNWIND_USER_SIGNAL_OFF(pc)
#define UNWIND_USER_SIGNAL_SP		UNWIND_USER_SIGNAL_OFF(sp)
#define UNWIND_USER_SIGNAL_FP		UNWIND_USER_SIGNAL_OFF(regs[29])
#define UNWIND_USER_SIGNAL_LR		UNWIND_USER_SIGNAL_OFF(regs[30])
#define UNWIND_USER_SIGNAL_MODE		UNWIND_USER_SIGNAL_OFF(pstate)

/*
 * Behind it is a frame record, to which the frame pointer of the handler leads;
 * further behind, where the frame has more than that struct.
 */
#define UNWIND_USER_SIGNAL_SIZE				\
	((sizeof(struct siginfo) + sizeof(struct ucontext) + 15) & ~15UL)

static inline bool unwind_user_signal_native(unsigned long mode)
{
	return !(mode & PSR_MODE32_BIT);
}

#endif /* _ASM_ARM64_UNWIND_USER_SFRAME_H */
