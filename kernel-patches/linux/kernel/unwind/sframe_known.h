/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_UNWIND_SFRAME_KNOWN_H
#define _KERNEL_UNWIND_SFRAME_KNOWN_H

#include <linux/unwind_user_types.h>

#include "user.h"

/* What is followed where no window says otherwise. */
extern const struct unwind_user_frame sframe_fp_frame;

/* See unwind_user_step_fallback(). */
static __always_inline enum sframe_reason
sframe_read_fallback(struct unwind_user_state *state,
		     struct unwind_user_caller *caller)
{
	if (!IS_ENABLED(CONFIG_HAVE_UNWIND_USER_FP))
		return unwind_user_read_backchain(state, &sframe_fp_frame,
						  caller);
	if (state->fp < state->sp)
		return SFRAME_REASON_CFA_ORDER;
	return unwind_user_read_plain(state, &sframe_fp_frame, sizeof(long),
				      caller);
}

/*
 * Step from a frame that is not the topmost one, by rules that need two words of
 * the stack: plain ones, the frame pointer, or the back chain. Return probes, other
 * stacks and what is refused are left to sframe_step(). In an access section.
 */
static __always_inline bool
sframe_known_step(struct unwind_user_state *state,
		  const struct unwind_user_frame *frame, u8 kind)
{
	struct unwind_user_caller caller __uninitialized;
	enum sframe_reason reason;

	if (kind == UNWIND_USER_FRAME_PLAIN)
		reason = unwind_user_read_plain(state, frame, sizeof(long),
						&caller);
	else
		reason = sframe_read_fallback(state, &caller);
	if (reason || caller.sp <= state->sp || !unwind_user_text(caller.ra))
		return false;

	state->ip = caller.ra;
	state->sp = caller.sp;
	state->fp = caller.fp;
	if (!UNWIND_USER_FP_GIVES_SP)
		state->sp_bound = kind == UNWIND_USER_FRAME_POINTER;
	return true;
}

#endif /* _KERNEL_UNWIND_SFRAME_KNOWN_H */
