/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What SFrame tables of s390x mean and how its signal frames look.
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
 * The return address is where the row says; registers as numbered by DWARF. r11
 * is the frame pointer of functions that have one.
 */
#define UNWIND_USER_SFRAME_ABI		SFRAME_ABI_S390X_BE
#define UNWIND_USER_SFRAME_RA_OFF	0
#define UNWIND_USER_SFRAME_UNIT_SHIFT	1
#define UNWIND_USER_SFRAME_SIGNS_RA	0
#define UNWIND_USER_REGNUM_FP		11
#define UNWIND_USER_REGNUM_LR		14
#define UNWIND_USER_REGNUM_SP		15

/*
 * The CFA is above the save area of 160 bytes that a caller has at its stack
 * pointer. A byte reaches far if these are left out, and the rest, a multiple of
 * 8, is divided by that; binutils does so in FLEX rows, too.
 */
#define UNWIND_USER_SFRAME_SP_OFF	(-STACK_FRAME_OVERHEAD)
#define UNWIND_USER_SFRAME_CFA_SCALE	8

/* Where the registers of the interrupted code are from the struct _sigregs. */
#define UNWIND_USER_SIGNAL_REG(field)	((s32)offsetof(_sigregs, regs.field))
#define UNWIND_USER_SIGNAL_IP		UNWIND_USER_SIGNAL_REG(psw.addr)
#define UNWIND_USER_SIGNAL_SP		UNWIND_USER_SIGNAL_REG(gprs[15])
#define UNWIND_USER_SIGNAL_FP		UNWIND_USER_SIGNAL_REG(gprs[11])
#define UNWIND_USER_SIGNAL_LR		UNWIND_USER_SIGNAL_REG(gprs[14])
#define UNWIND_USER_SIGNAL_MODE		UNWIND_USER_SIGNAL_REG(psw.mask)

/*
 * Which of the two signal frames is at the stack pointer is told by the system
 * call that the handler returns to, svc. Behind a save area there is for
 *
 *	sigreturn()	a struct sigcontext, and the struct _sigregs
 *	rt_sigreturn()	a siginfo, behind half a word, and the struct ucontext
 *
 * Return: where in the frame the struct is, or 0 for other instructions.
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
