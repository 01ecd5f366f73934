/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_S390_UNWIND_USER_H
#define _ASM_S390_UNWIND_USER_H

#ifdef CONFIG_UNWIND_USER

#include <linux/fpu.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/processor.h>
#include <linux/signal_types.h>
#include <linux/uaccess.h>

#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>

/* Addresses differ in the other addressing modes, 24-bit and 31-bit. */
static inline int unwind_user_word_size(struct pt_regs *regs)
{
	return psw_bits(regs->psw).eaba == PSW_BITS_AMODE_64BIT ? 8 : 0;
}

/*
 * Floating point registers by DWARF number - 16. The kernel saves those of user
 * space only when it needs the registers itself, or on request.
 */
static __always_inline unsigned long unwind_user_fpr(unsigned int nr)
{
	static const u8 fprs[__NUM_FPRS] = {
		0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15,
	};

	save_user_fpu_regs();
	return current->thread.ufpu.vxrs[fprs[nr]].high;
}

/*
 * The registers by DWARF number. Leaf functions may save the return address and
 * r11 in floating point registers.
 */
static __always_inline bool
unwind_user_reg(struct pt_regs *regs, unsigned int regnum, unsigned long *val)
{
	if (regnum >= NUM_GPRS + __NUM_FPRS)
		return false;
	/* The number comes from a table in user memory. */
	regnum = array_index_nospec(regnum, NUM_GPRS + __NUM_FPRS);
	*val = regnum < NUM_GPRS ? regs->gprs[regnum] :
				   unwind_user_fpr(regnum - NUM_GPRS);
	return true;
}

#define unwind_user_reg unwind_user_reg

static inline unsigned long unwind_user_lr(struct pt_regs *regs)
{
	return regs->gprs[14];
}

#define unwind_user_lr unwind_user_lr

/* The CFA is above the register save area, which is at the caller's SP. */
#define UNWIND_USER_SAVE_AREA		STACK_FRAME_OVERHEAD

static inline unsigned long unwind_user_ra_slot(unsigned long cfa,
						unsigned int ws)
{
	return cfa - UNWIND_USER_SAVE_AREA;
}

#define unwind_user_ra_slot unwind_user_ra_slot

#ifdef CONFIG_UNWIND_ASSIST
/* struct rt_sigframe in signal.c. One word of it is for an instruction. */
static inline unsigned long unwind_user_sigframe_size(void)
{
	return __SIGNAL_FRAMESIZE + sizeof(long) + sizeof(struct siginfo) +
	       sizeof(struct ucontext_extended);
}

/* Is SVC next, perhaps to run again? Assume so if it cannot be read. */
static inline bool unwind_user_at_syscall(struct pt_regs *regs)
{
	u8 opcode;

	return copy_from_user(&opcode, (void __user *)regs->psw.addr,
			      sizeof(opcode)) || opcode == 0x0a;
}
#endif

#endif /* CONFIG_UNWIND_USER */

#ifdef CONFIG_HAVE_UNWIND_USER_BACKCHAIN

/* Functions need not save r11 in its slot, so a back chain does not find it. */
#define UNWIND_USER_FP_TRACKED		0

/* The caller's stack pointer is below the CFA, by the size of the save area. */
#define UNWIND_USER_SP_IS_CFA		0

/*
 * The word at the stack pointer is the caller's stack pointer, and the return
 * address was saved in the register save area there.
 */
#define ARCH_INIT_USER_BACKCHAIN_FRAME					\
	.cfa = {							\
		.from	= UNWIND_USER_FROM_SP | UNWIND_USER_DEREF,	\
	},								\
	.cfa_addend	= UNWIND_USER_SAVE_AREA,			\
	.ra = {								\
		.from	= UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF,	\
		.off	= 14 * (s32)sizeof(long) - UNWIND_USER_SAVE_AREA, \
	},								\
	.sp_off		= -UNWIND_USER_SAVE_AREA,

/*
 * The back chain of the vDSO's C code ends at the wrapper that calls it. The
 * frame of the wrapper has the return address above a save area.
 */
#define ARCH_INIT_USER_VDSO_FRAME					\
	.cfa = {							\
		.from	= UNWIND_USER_FROM_SP,				\
		.off	= 2 * UNWIND_USER_SAVE_AREA + sizeof(long),	\
	},								\
	.ra = {								\
		.from	= UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF,	\
		.off	= -(s32)sizeof(long) - UNWIND_USER_SAVE_AREA,	\
	},								\
	.sp_off		= -UNWIND_USER_SAVE_AREA,

static inline bool unwind_user_in_vdso(unsigned long ip)
{
	return in_range(ip, current->mm->context.vdso_base, vdso_text_size());
}

#endif /* CONFIG_HAVE_UNWIND_USER_BACKCHAIN */

#endif /* _ASM_S390_UNWIND_USER_H */
