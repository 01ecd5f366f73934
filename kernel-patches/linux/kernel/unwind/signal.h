/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The step from a signal handler's frame to what the signal interrupted.
 */
#ifndef _KERNEL_UNWIND_SIGNAL_H
#define _KERNEL_UNWIND_SIGNAL_H

#include <asm/unwind_user_sframe.h>

#include "user.h"

/*
 * Signal frames in one walk. Each may lead anywhere, even back: this limit
 * keeps a forged stack from looping.
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

/* Where the third register of the interrupted code is, like state->third. */
static __always_inline unsigned long unwind_user_signal_third(unsigned long sp)
{
#ifdef UNWIND_USER_SIGNAL_THIRD
	return sp + UNWIND_USER_SIGNAL_THIRD;
#else
	return 0;
#endif
}

/*
 * If the walk left the handler by its frame pointer, the stack pointer is not
 * known. The frame pointer then leads to a frame record, which the kernel put
 * above the signal frame, with the same registers.
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

/* Is there such a frame record? */
static __always_inline enum sframe_reason
unwind_user_check_signal(struct unwind_user_state *state,
			 const struct unwind_user_caller *caller)
{
	unsigned long fp, lr;

	if (unwind_user_sp_known(state))
		return SFRAME_REASON_NONE;
	if (unwind_user_get_word(state, &fp, state->fp, state->ws) ||
	    unwind_user_get_word(state, &lr, state->fp + state->ws, state->ws))
		return SFRAME_REASON_STACK_FAULT;
	return fp == caller->fp && lr == caller->lr ?
	       SFRAME_REASON_NONE : SFRAME_REASON_ROW_REGISTER;
}

/*
 * If signal frames have several layouts, the system call instruction that the
 * handler returns to tells which one this is. Advance @sp to the registers.
 */
static __always_inline enum sframe_reason
unwind_user_find_signal(struct unwind_user_state *state, unsigned long *sp)
{
#ifdef unwind_user_signal_off
	unsigned long off;
	u16 insn;

	if (!unwind_user_get(state, &insn, unwind_user_stack_ptr(state->ip)))
		return SFRAME_REASON_STACK_FAULT;
	off = unwind_user_signal_off(insn);
	if (!off)
		return SFRAME_REASON_SIGNAL;
	*sp += off;
#endif
	return SFRAME_REASON_NONE;
}

/*
 * Read the registers that the kernel saved when it delivered a signal, in an
 * access section.
 */
static __always_inline enum sframe_reason
unwind_user_read_signal(struct unwind_user_state *state,
			struct unwind_user_caller *caller)
{
	unsigned long sp = unwind_user_signal_sp(state);
	enum sframe_reason reason;
	unsigned long mode;

	if (state->signals == UNWIND_USER_MAX_SIGNALS)
		return SFRAME_REASON_SIGNAL;
	reason = unwind_user_find_signal(state, &sp);
	if (reason)
		return reason;

	if (unwind_user_get_word(state, &mode, sp + UNWIND_USER_SIGNAL_MODE,
				 state->ws) ||
	    unwind_user_get_word(state, &caller->ra,
				 sp + UNWIND_USER_SIGNAL_IP, state->ws) ||
	    unwind_user_get_word(state, &caller->sp,
				 sp + UNWIND_USER_SIGNAL_SP, state->ws) ||
	    unwind_user_get_word(state, &caller->fp,
				 sp + UNWIND_USER_SIGNAL_FP, state->ws) ||
	    !unwind_user_read_signal_lr(state, sp, caller))
		return SFRAME_REASON_STACK_FAULT;

	caller->third = unwind_user_signal_third(sp);
	/* Only native code has windows. */
	if (!unwind_user_signal_native(mode))
		return SFRAME_REASON_SIGNAL;
	return unwind_user_check_signal(state, caller);
}

/*
 * This step may go to any other stack (SA_ONSTACK). The interrupted frame is
 * like a topmost one, but of its other registers only the third one is known.
 */
static inline enum sframe_reason
unwind_user_enter_signal(struct unwind_user_state *state,
			 const struct unwind_user_caller *caller)
{
	if (!unwind_user_text(caller->ra))
		return SFRAME_REASON_RETURN_ADDRESS;

	state->ip = caller->ra;
	state->sp = caller->sp;
	state->fp = caller->fp;
	state->lr = caller->lr;
	state->third = caller->third;
	state->regs = NULL;
	state->signals++;
	state->topmost = true;
	state->exact_ip = true;
	state->sp_bound = false;
	return SFRAME_REASON_NONE;
}

#endif /* _KERNEL_UNWIND_SIGNAL_H */
