/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What SFrame tables of x86-64 mean and how a signal frame looks there.
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

/* The return address is always at CFA - 8; registers as numbered by DWARF. */
#define UNWIND_USER_SFRAME_ABI		SFRAME_ABI_AMD64_LE
#define UNWIND_USER_SFRAME_RA_OFF	-8
#define UNWIND_USER_REGNUM_FP		6
#define UNWIND_USER_REGNUM_SP		7

/*
 * The handler's return took pretcode off the struct rt_sigframe, so that the
 * stack pointer of the code behind it, which is to call rt_sigreturn(), is the
 * address of the struct ucontext.
 */
#define UNWIND_USER_SIGREGS_OFF		\
	offsetof(struct ucontext, uc_mcontext.bp)

/* A piece of struct sigcontext. */
struct unwind_user_sigregs {
	u64	fp;
	u64	bx;
	u64	dx;
	u64	ax;
	u64	cx;
	u64	sp;
	u64	ip;
	u64	flags;
	u16	cs;
	u16	gs;
	u16	fs;
	u16	ss;
};

static_assert(offsetof(struct unwind_user_sigregs, sp) ==
	      offsetof(struct sigcontext, sp) -
	      offsetof(struct sigcontext, bp));
static_assert(offsetof(struct unwind_user_sigregs, cs) ==
	      offsetof(struct sigcontext, cs) -
	      offsetof(struct sigcontext, bp));

/* Was 64-bit code interrupted? Nothing else has windows. */
static inline bool
unwind_user_sigregs_native(const struct unwind_user_sigregs *regs)
{
	struct pt_regs interrupted = { .cs = regs->cs };

	return user_64bit_mode(&interrupted);
}

#endif /* _ASM_X86_UNWIND_USER_SFRAME_H */
