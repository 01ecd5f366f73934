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

/*
 * Read the registers that the kernel saved when it delivered a signal, in an
 * access section.
 *
 * Return: 0, -EOPNOTSUPP if there is nothing to follow, or -EFAULT.
 */
static __always_inline int
unwind_user_read_signal(struct unwind_user_state *state,
			struct unwind_user_caller *caller)
{
	unsigned long mode;

	if (state->signals == UNWIND_USER_MAX_SIGNALS)
		return -EOPNOTSUPP;

	if (unwind_user_get_word(state, &mode,
				 state->sp + UNWIND_USER_SIGNAL_MODE, state->ws) ||
	    unwind_user_get_word(state, &caller->ra,
				 state->sp + UNWIND_USER_SIGNAL_IP, state->ws) ||
	    unwind_user_get_word(state, &caller->sp,
				 state->sp + UNWIND_USER_SIGNAL_SP, state->ws) ||
	    unwind_user_get_word(state, &caller->fp,
				 state->sp + UNWIND_USER_SIGNAL_FP, state->ws))
		return -EFAULT;

	/* Nothing else has windows. */
	return unwind_user_signal_native(mode) ? 0 : -EOPNOTSUPP;
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
	state->regs = NULL;
	state->signals++;
	state->topmost = true;
	state->exact_ip = true;
	return 0;
}

#endif /* _KERNEL_UNWIND_SIGNAL_H */
