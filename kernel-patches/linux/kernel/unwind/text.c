// SPDX-License-Identifier: GPL-2.0
/*
 * Let a walk look at the instructions of user code.
 *
 * They are as untrusted as a table: they can make a walk of their own task lie,
 * but do no other harm. No page is faulted in for them; instructions that
 * cannot be read are ignored.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/types.h>
#include <linux/unwind_user.h>

#include <asm/unwind_user_text.h>

#include "user.h"

/*
 * These reads need no budget: a walk makes them only at interrupted frames and
 * at the first frames of other stacks, which are few.
 */
static bool unwind_user_read_text(struct unwind_user_state *state,
				  unsigned long addr, unsigned long *words,
				  unsigned int nr)
{
	enum sframe_reason reason = SFRAME_REASON_NONE;
	unsigned int i;

	unwind_user_access_begin();
	for (i = 0; i < nr && !reason; i++)
		reason = unwind_user_get_word(state, words + i,
					      addr + i * sizeof(*words),
					      sizeof(*words));
	user_read_access_end();
	return !reason;
}

/* Read the word before @ra, which a call may end. */
static bool unwind_user_read_call(struct unwind_user_state *state,
				  unsigned long ra, unsigned long *before)
{
	return unwind_user_read_text(state, ra - sizeof(*before), before, 1);
}

/**
 * unwind_user_switch - check whether the walk may go down to another stack
 * @state:	position of the walk
 * @fp:		frame pointer of the caller
 * @ra:		its return address
 * @chained:	the step followed the frame pointer
 *
 * Programs run coroutines, or C code, on separate stacks. A stray frame pointer
 * or a wrong row may lead to memory that is not a frame. So require a call
 * before the return address, or the start of a stack there, and that a chain of
 * frame pointers goes up from there.
 *
 * Return: SFRAME_REASON_NONE, or SFRAME_REASON_CFA_ORDER.
 */
enum sframe_reason unwind_user_switch(struct unwind_user_state *state,
				      unsigned long fp, unsigned long ra,
				      bool chained)
{
	unsigned long before, code;

	if (chained && fp && fp <= state->fp)
		return SFRAME_REASON_CFA_ORDER;
	if (!unwind_user_read_call(state, ra, &before))
		return SFRAME_REASON_CFA_ORDER;
	if (!unwind_user_ends_in_call(before) &&
	    (!chained || fp ||
	     !unwind_user_read_text(state, ra, &code, 1) ||
	     !unwind_user_starts_stack(before, code)))
		return SFRAME_REASON_CFA_ORDER;
	state->switches++;
	return SFRAME_REASON_NONE;
}

#ifdef unwind_user_call_target

/* Bytes from its start in which a function may still have no frame. */
#define UNWIND_USER_ENTRY_BYTES	128

/*
 * Did the call before @ra, in the bytes @before, call the interrupted function,
 * and has that pushed just @pushed bytes since?
 */
static bool unwind_user_is_entered(struct unwind_user_state *state,
				   unsigned long ra, unsigned long before,
				   unsigned int pushed)
{
	unsigned long code[UNWIND_USER_ENTRY_BYTES / sizeof(long)]
		__uninitialized;
	unsigned long target, length;

	if (!unwind_user_call_target(state->regs, before, ra, &target))
		return false;
	length = state->ip - target;
	if (length > sizeof(code))
		return false;
	if (!unwind_user_read_text(state, target, code,
				   DIV_ROUND_UP(length, sizeof(*code))))
		return false;
	return unwind_user_code_pushes((u8 *)code, length) == pushed;
}

/* Is a return next? Then the return address is on top of the stack. */
static bool unwind_user_is_left(struct unwind_user_state *state,
				unsigned long before)
{
	unsigned long code;

	return unwind_user_ends_in_call(before) &&
	       unwind_user_read_text(state, state->ip, &code, 1) &&
	       unwind_user_at_return(code);
}

/**
 * unwind_user_step_entered - step from a function that has no frame
 * @state:	position of the walk, at an interrupted instruction
 *
 * Leaf functions may have no frame, and others have none at their first
 * instructions and at the last one. The frame pointer is the caller's then, and
 * following it would skip the caller.
 *
 * Return: 0, or -ENOENT if it is not certain that there is no frame.
 */
int unwind_user_step_entered(struct unwind_user_state *state)
{
	struct unwind_user_caller caller = {
		.sp = state->sp + sizeof(long), .fp = state->fp,
		.third = state->third,
	};
	unsigned int pushed = 0;
	unsigned long before;

	if (!unwind_user_read_text(state, state->sp, &caller.ra, 1))
		return -ENOENT;
	/* The frame pointer was pushed, but still is the caller's. */
	if (caller.ra == state->fp) {
		if (!unwind_user_read_text(state, caller.sp, &caller.ra, 1))
			return -ENOENT;
		pushed = sizeof(long);
		caller.sp += pushed;
	}
	caller.cfa = caller.sp;
	if (!unwind_user_text(caller.ra) ||
	    !unwind_user_read_call(state, caller.ra, &before))
		return -ENOENT;
	if (!unwind_user_is_entered(state, caller.ra, before, pushed) &&
	    (pushed || !unwind_user_is_left(state, before)))
		return -ENOENT;
	return unwind_user_enter(state, &caller, false) ? -ENOENT : 0;
}

#else

int unwind_user_step_entered(struct unwind_user_state *state)
{
	return -ENOENT;
}

#endif
