/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The step through an SFrame window, for walkers that may take page faults and
 * for those that must not; see user.h for @nofault.
 */
#ifndef _KERNEL_UNWIND_SFRAME_STEP_H
#define _KERNEL_UNWIND_SFRAME_STEP_H

#include <linux/mm_types.h>
#include <linux/sched.h>

#include "sframe.h"
#include "signal.h"
#include "user.h"

/*
 * A walker that may sleep holds the window by a reference, not by RCU: user
 * space decides how long a page fault takes, and must not hold up others.
 */
static __always_inline struct sframe_window *
sframe_pin(struct sframe_registry *reg, unsigned long ip, const bool nofault)
{
	struct sframe_window *window;

	if (nofault)
		return sframe_lookup(reg, ip);

	guard(rcu)();
	/*
	 * A window without references has just left the tree. It may have a
	 * successor there: to say that there is none would be wrong.
	 */
	do {
		window = sframe_lookup(reg, ip);
	} while (window && !refcount_inc_not_zero(&window->refs));
	return window;
}

static __always_inline void sframe_unpin(struct sframe_window *window,
					 const bool nofault)
{
	if (!nofault)
		sframe_window_put(window);
}

/*
 * Is what was read since @seq the section of @window? Other windows may have
 * been removed meanwhile; this one was not if it is still found.
 */
static __always_inline bool
sframe_still_there(struct sframe_registry *reg, struct sframe_window *window,
		   unsigned long ip, unsigned int seq)
{
	/* Pairs with smp_wmb() in sframe_window_removed(). */
	smp_rmb();
	if (likely(READ_ONCE(reg->seq) == seq))
		return true;

	guard(rcu)();
	return sframe_lookup(reg, ip) == window;
}

/*
 * Return: SFRAME_REASON_NONE with @frame filled, the reason there is none, or
 * SFRAME_NR_REASONS if no window covers @ip.
 */
static __always_inline enum sframe_reason
sframe_frame_at(struct sframe_registry *reg, unsigned long ip,
		struct unwind_user_frame *frame, unsigned int *budget,
		const bool nofault)
{
	enum sframe_reason reason = SFRAME_NR_REASONS;
	struct sframe_window *window;
	unsigned int seq, tries;
	bool valid;

	/* A replaced window has a successor: look again, once. */
	for (tries = 0; tries < 2; tries++) {
		/* A removal that was counted is no longer found. */
		seq = smp_load_acquire(&reg->seq);
		window = sframe_pin(reg, ip, nofault);
		if (!window)
			return SFRAME_NR_REASONS;

		if (nofault)
			reason = sframe_find_frame_nofault(window, ip, frame,
							   budget);
		else
			reason = sframe_find_frame(window, ip, frame, budget);
		valid = sframe_still_there(reg, window, ip, seq);
		sframe_unpin(window, nofault);
		if (valid)
			return reason;
	}
	return SFRAME_REASON_CHANGED;
}

static inline enum sframe_reason sframe_apply_reason(int ret)
{
	switch (ret) {
	case 0:
		return SFRAME_REASON_NONE;
	case -ELOOP:
		return SFRAME_REASON_CFA_ORDER;
	case -EINVAL:
		return SFRAME_REASON_CFA_ALIGN;
	case -ENODATA:
		return SFRAME_REASON_ROW_REGISTER;
	case -EOPNOTSUPP:
		return SFRAME_REASON_SIGNAL;
	default:
		return SFRAME_REASON_STACK_FAULT;
	}
}

static inline void sframe_count(struct sframe_counters *counters,
				enum sframe_reason reason, unsigned long ip)
{
	u64 *refused = &counters->refused[reason];

	WRITE_ONCE(*refused, READ_ONCE(*refused) + 1);
	WRITE_ONCE(counters->last_reason, reason);
	WRITE_ONCE(counters->last_ip, ip);
}

static __always_inline int
sframe_apply(struct unwind_user_state *state,
	     const struct unwind_user_frame *frame, const bool nofault)
{
	if (frame->signal)
		return unwind_user_apply_signal(state, nofault);
	return unwind_user_apply_frame(state, frame, true, nofault);
}

static __always_inline int __sframe_step(struct unwind_user_state *state,
					 const bool nofault)
{
	struct sframe_registry *reg = sframe_registry_of(current->mm);
	struct unwind_user_frame frame;
	enum sframe_reason reason;
	unsigned long ip;

	if (!reg)
		return -ENOENT;

	/*
	 * A return address may lie behind its function, or in another row, if
	 * the call was the last thing there: look up the call.
	 */
	ip = state->exact_ip ? state->ip : state->ip - 1;

	if (nofault) {
		guard(rcu)();
		reason = sframe_frame_at(reg, ip, &frame, &state->budget,
					 true);
	} else {
		reason = sframe_frame_at(reg, ip, &frame, &state->budget,
					 false);
	}
	if (reason == SFRAME_NR_REASONS)
		return -ENOENT;

	if (!reason && frame.outermost) {
		state->done = true;
		return 0;
	}
	if (!reason)
		reason = sframe_apply_reason(sframe_apply(state, &frame,
							  nofault));
	if (!reason)
		return 0;

	sframe_count(&reg->counters, reason, ip);
	return -EINVAL;
}

#endif /* _KERNEL_UNWIND_SFRAME_STEP_H */
