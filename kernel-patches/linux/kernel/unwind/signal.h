/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The step from a signal handler's frame to what the signal interrupted.
 */
#ifndef _KERNEL_UNWIND_SIGNAL_H
#define _KERNEL_UNWIND_SIGNAL_H

#include <asm/unwind_user_sframe.h>

#include "user.h"

/*
 * Signal frames of one walk. Each may lead anywhere, also back: this is what
 * keeps a made-up stack from being a loop.
 */
#define UNWIND_USER_MAX_SIGNALS	8

/* Return: false if it could not be read. */
static __always_inline bool
unwind_user_read_signal_lr(struct unwind_user_state *state, unsigned long sp,
			   struct unwind_user_caller *caller)
{
#ifdef UNWIND_USER_SIGNAL_LR
	return !unwind_user_get_word(state, &caller->lr,
				     sp + UNWIND_USER_SIGNAL_LR, state->ws);
#else
	caller->lr = 0;
	return true;
#endif
}

/*
 * A handler that was left by its frame pointer: that leads to a frame record
 * which the kernel has put behind the signal frame, with the same registers.
 */
static __always_inline unsigned long
unwind_user_signal_sp(const struct unwind_user_state *state)
{
#ifdef UNWIND_USER_SIGNAL_SIZE
	if (!unwind_user_sp_known(state))
		return state->fp - UNWIND_USER_SIGNAL_SIZE;
#endif
	return state->sp;
}

/* Return: 0, -ENODATA if there is no such record, or -EFAULT. */
static __always_inline int
unwind_user_check_signal(struct unwind_user_state *state,
			 const struct unwind_user_caller *caller)
{
	unsigned long fp, lr;

	if (unwind_user_sp_known(state))
		return 0;
	if (unwind_user_get_word(state, &fp, state->fp, state->ws) ||
	    unwind_user_get_word(state, &lr, state->fp + state->ws, state->ws))
		return -EFAULT;
	return fp == caller->fp && lr == caller->lr ? 0 : -ENODATA;
}

/*
 * Where a signal frame of several forms has the registers is told by the
 * instruction that the handler returns to. @sp moves there.
 *
 * Return: 0, -EOPNOTSUPP if that makes no such system call, or -EFAULT.
 */
static __always_inline int
unwind_user_find_signal(struct unwind_user_state *state, unsigned long *sp)
{
#ifdef unwind_user_signal_off
	unsigned long off;
	u16 insn;

	if (!unwind_user_get(state, &insn, unwind_user_stack_ptr(state->ip)))
		return -EFAULT;
	off = unwind_user_signal_off(insn);
	if (!off)
		return -EOPNOTSUPP;
	*sp += off;
#endif
	return 0;
}

/*
 * Read the registers that the kernel saved when it delivered a signal, in an
 * access section.
 *
 * Return: 0, -EOPNOTSUPP if there is nothing to follow, -ENODATA if the stack
 * pointer is not known, or -EFAULT.
 */
static __always_inline int
unwind_user_read_signal(struct unwind_user_state *state,
			struct unwind_user_caller *caller)
{
	unsigned long sp = unwind_user_signal_sp(state);
	unsigned long mode;
	int ret;

	if (state->signals == UNWIND_USER_MAX_SIGNALS)
		return -EOPNOTSUPP;
	ret = unwind_user_find_signal(state, &sp);
	if (ret)
		return ret;

	if (unwind_user_get_word(state, &mode, sp + UNWIND_USER_SIGNAL_MODE,
				 state->ws) ||
	    unwind_user_get_word(state, &caller->ra,
				 sp + UNWIND_USER_SIGNAL_IP, state->ws) ||
	    unwind_user_get_word(state, &caller->sp,
				 sp + UNWIND_USER_SIGNAL_SP, state->ws) ||
	    unwind_user_get_word(state, &caller->fp,
				 sp + UNWIND_USER_SIGNAL_FP, state->ws) ||
	    !unwind_user_read_signal_lr(state, sp, caller))
		return -EFAULT;

	/* Nothing else has windows. */
	if (!unwind_user_signal_native(mode))
		return -EOPNOTSUPP;
	return unwind_user_check_signal(state, caller);
}

/*
 * This is the one step that may leave the stack (SA_ONSTACK). The interrupted
 * frame is like a topmost one, but no other registers of it are known.
 *
 * Return: 0, or -ERANGE if the address cannot be one.
 */
static inline int
unwind_user_enter_signal(struct unwind_user_state *state,
			 const struct unwind_user_caller *caller)
{
	if (!unwind_user_text(caller->ra))
		return -ERANGE;

	state->ip = caller->ra;
	state->sp = caller->sp;
	state->fp = caller->fp;
	state->lr = caller->lr;
	state->regs = NULL;
	state->signals++;
	state->topmost = true;
	state->exact_ip = true;
	state->sp_bound = false;
	return 0;
}

#endif /* _KERNEL_UNWIND_SIGNAL_H */
