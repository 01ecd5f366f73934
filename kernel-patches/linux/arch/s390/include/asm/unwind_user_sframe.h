/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The meaning of SFrame tables, and the layout of signal frames, on s390x.
 */
#ifndef _ASM_S390_UNWIND_USER_SFRAME_H
#define _ASM_S390_UNWIND_USER_SFRAME_H

#include <linux/signal_types.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>

/*
 * Rows tell where the return address is. Registers have DWARF numbers. r11 is
 * the frame pointer of functions that have one.
 */
#define UNWIND_USER_SFRAME_ABI		SFRAME_ABI_S390X_BE
#define UNWIND_USER_SFRAME_RA_OFF	0
#define UNWIND_USER_SFRAME_UNIT_SHIFT	1
#define UNWIND_USER_SFRAME_SIGNS_RA	0
#define UNWIND_USER_REGNUM_FP		11
#define UNWIND_USER_REGNUM_LR		14
#define UNWIND_USER_REGNUM_SP		15

/*
 * The CFA is above the save area of 160 bytes at the caller's stack pointer. To
 * fit more offsets in a byte, binutils subtracts these and divides the rest, a
 * multiple of 8, by 8. It does so in FLEX rows, too.
 */
#define UNWIND_USER_SFRAME_SP_OFF	(-STACK_FRAME_OVERHEAD)
#define UNWIND_USER_SFRAME_CFA_SCALE	8

/* Offsets of the interrupted code's registers in struct _sigregs. */
#define UNWIND_USER_SIGNAL_REG(field)	((s32)offsetof(_sigregs, regs.field))
#define UNWIND_USER_SIGNAL_IP		UNWIND_USER_SIGNAL_REG(psw.addr)
#define UNWIND_USER_SIGNAL_SP		UNWIND_USER_SIGNAL_REG(gprs[15])
#define UNWIND_USER_SIGNAL_FP		UNWIND_USER_SIGNAL_REG(gprs[11])
#define UNWIND_USER_SIGNAL_LR		UNWIND_USER_SIGNAL_REG(gprs[14])
#define UNWIND_USER_SIGNAL_MODE		UNWIND_USER_SIGNAL_REG(psw.mask)

/*
 * The svc instruction that the handler returns to tells which of two signal
 * frames is at the stack pointer. Above a save area they have:
 *
 *	sigreturn()	a struct sigcontext, and the struct _sigregs
 *	rt_sigreturn()	a padded svc, a siginfo, and the struct ucontext
 *
 * Return: offset of the struct _sigregs in the frame, or 0 for other
 * instructions.
 */
static __always_inline unsigned long unwind_user_signal_off(u16 insn)
{
	switch (insn) {
	case 0x0a00 | __NR_sigreturn:
		return __SIGNAL_FRAMESIZE + sizeof(struct sigcontext);
	case 0x0a00 | __NR_rt_sigreturn:
		return __SIGNAL_FRAMESIZE + sizeof(long) +
		       sizeof(struct siginfo) +
		       offsetof(struct ucontext, uc_mcontext);
	default:
		return 0;
	}
}

#define unwind_user_signal_off unwind_user_signal_off

static inline bool unwind_user_signal_native(unsigned long mode)
{
	const psw_t psw = { .mask = mode };

	return psw_bits(psw).eaba == PSW_BITS_AMODE_64BIT;
}

#endif /* _ASM_S390_UNWIND_USER_SFRAME_H */
