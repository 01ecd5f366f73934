/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The meaning of SFrame tables, and the layout of a signal frame, on arm64.
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
 * Rows tell where the return address is; it may be signed. Registers have DWARF
 * numbers.
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
 * A handler returns to code that calls rt_sigreturn(). The stack pointer is
 * then at the struct rt_sigframe: a siginfo, and the struct ucontext.
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
 * A frame record follows it, or is further up if the signal frame has more than
 * that struct. The frame pointer of the handler points to the record.
 */
#define UNWIND_USER_SIGNAL_SIZE				\
	((sizeof(struct siginfo) + sizeof(struct ucontext) + 15) & ~15UL)

static inline bool unwind_user_signal_native(unsigned long mode)
{
	return !(mode & PSR_MODE32_BIT);
}

#endif /* _ASM_ARM64_UNWIND_USER_SFRAME_H */
