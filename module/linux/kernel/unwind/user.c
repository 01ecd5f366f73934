// SPDX-License-Identifier: GPL-2.0
/*
* Generic interfaces for unwinding user space
*/
#include <linux/kernel.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/sframe.h>
#include <linux/uaccess.h>
#include <linux/unwind_user.h>

#include "uprobes.h"
#include "user.h"

/*
 * Page faults that one step may take: a few for the stack, and up to 32 for the
 * binary search of an index.
 */
#define UNWIND_USER_MAX_FAULTS	64

/* Steps before preemption is enabled again. */
#define UNWIND_USER_MAX_STEPS	16

/**
 * unwind_user_undo_probe - find the original return address
 * @state:	position of the walk
 * @caller:	registers as read; sp and ra are corrected
 * @ra_copied:	see struct unwind_user_frame
 *
 * Return: 0 or -ESRCH.
 */
int unwind_user_undo_probe(struct unwind_user_state *state,
			   struct unwind_user_caller *caller, bool ra_copied)
{
	unsigned long slot = unwind_user_ra_slot(caller->cfa, state->ws);
	unsigned long moved = slot;
	int ret;

	ret = unwind_user_return_address(state, ra_copied, &slot, &caller->ra);
	if (!ret)
		caller->sp += slot - moved;
	return ret;
}

/* Step from the first instruction of a function. */
int unwind_user_step_entry(struct unwind_user_state *state)
{
	const struct unwind_user_frame entry = {
		ARCH_INIT_USER_FP_ENTRY_FRAME(state->ws)
		.third = UNWIND_USER_THIRD_KEPT,
	};

	return unwind_user_step_plain(state, &entry, state->ws);
}

/* Separate, so that the word size is a constant for other tasks. */
static noinline int unwind_user_step_compat(struct unwind_user_state *state)
{
	return unwind_user_step_fp(state, sizeof(u32));
}

/* Make one step without page faults, by the first type that succeeds. */
static int unwind_user_step(struct unwind_user_state *state)
{
	unsigned long iter_mask = state->available_types;
	unsigned int bit;
	int ret = -EINVAL;

	for_each_set_bit(bit, &iter_mask, NR_UNWIND_USER_TYPE_BITS) {
		enum unwind_user_type type = BIT(bit);

		state->current_type = type;
		switch (type) {
		case UNWIND_USER_TYPE_SFRAME:
			ret = sframe_step(state);
			/* A wrong frame is worse than a short stack. */
			if (ret != -ENOENT)
				return ret;
			continue;
		case UNWIND_USER_TYPE_FP:
			if (!IS_ENABLED(CONFIG_COMPAT) ||
			    likely(state->ws == sizeof(long)))
				ret = unwind_user_step_fp(state, sizeof(long));
			else
				ret = unwind_user_step_compat(state);
			if (!ret || ret == -EFAULT)
				return ret;
			continue;
		case UNWIND_USER_TYPE_BACKCHAIN:
			ret = unwind_user_step_backchain(state);
			if (!ret || ret == -EFAULT)
				return ret;
			continue;
		default:
			WARN_ONCE(1, "Undefined unwind bit %d", bit);
			return -EINVAL;
		}
	}
	return ret;
}

static bool unwind_user_has_sframe(const struct unwind_user_state *state)
{
	return state->available_types & UNWIND_USER_TYPE_SFRAME;
}

/* Make several steps at once and store the callers. Return: how many. */
static noinline unsigned int
unwind_user_steps_sframe(struct unwind_user_state *state,
			 struct unwind_stacktrace *trace,
			 unsigned int max_entries)
{
	unsigned int nr;

	nr = sframe_steps(state, trace->entries + trace->nr,
			  max_entries - trace->nr);
	trace->nr += nr;
	return nr;
}

/*
 * Make steps until one needs a page fault, but do not make other tasks wait
 * long for the CPU.
 *
 * Return: 0, or the error of the last step.
 */
static int unwind_user_steps(struct unwind_user_state *state,
			     struct unwind_stacktrace *trace,
			     unsigned int max_entries)
{
	unsigned int i;
	int ret;

	guard(pagefault)();
	guard(preempt)();
	guard(rcu)();

	for (i = 0; !i || (i < UNWIND_USER_MAX_STEPS && !need_resched()); i++) {
		ret = unwind_user_step(state);
		if (ret)
			return ret;
		if (state->done)
			return 0;
		trace->entries[trace->nr++] = state->ip;
		if (unlikely(unwind_user_has_sframe(state)))
			i += unwind_user_steps_sframe(state, trace, max_entries);
		state->done = trace->nr == max_entries;
		if (state->done)
			return 0;
	}
	return 0;
}

/* Fault in the memory that the last step could not read. */
static bool unwind_user_fault_in(const struct unwind_user_state *state)
{
	return !fault_in_readable((const char __user *)state->fault,
				  state->fault_size);
}

static void unwind_user_walk(struct unwind_user_state *state,
			     struct unwind_stacktrace *trace,
			     unsigned int max_entries)
{
	unsigned int faults = 0, nr = trace->nr;
	int ret;

	while (!state->done) {
		ret = unwind_user_steps(state, trace, max_entries);
		if (trace->nr != nr)
			faults = 0;
		nr = trace->nr;
		if (!ret)
			continue;
		if (ret == -EFAULT && faults++ < UNWIND_USER_MAX_FAULTS &&
		    unwind_user_fault_in(state))
			continue;

		/* No successful unwind method. */
		if (state->current_type != UNWIND_USER_TYPE_SFRAME) {
			if (unwind_user_has_sframe(state))
				sframe_fallback_refused(state);
		} else if (ret != -ENOENT) {
			sframe_refused(state);
		}
		state->current_type = UNWIND_USER_TYPE_NONE;
		state->done = true;
	}
}

/**
 * unwind_user_init - begin a walk at the user registers of current
 * @state:	filled
 * @regs:	the registers
 *
 * Return: false if the task's stacks cannot be unwound.
 */
bool unwind_user_init(struct unwind_user_state *state, struct pt_regs *regs)
{
	memset(state, 0, sizeof(*state));

	state->ip = instruction_pointer(regs);
	state->sp = user_stack_pointer(regs);
	state->fp = frame_pointer(regs);
	state->lr = unwind_user_lr(regs);
	state->ws = unwind_user_word_size(regs);
	state->third = UNWIND_USER_IN_REGS;
	state->regs = regs;
	state->topmost = true;
	state->exact_ip = true;
	unwind_user_init_uprobes(state);
	return state->ws;
}

static int unwind_user_start(struct unwind_user_state *state,
			     unsigned int max_entries)
{
	struct pt_regs *regs = task_pt_regs(current);

	if ((current->flags & PF_KTHREAD) || !user_mode(regs) ||
	    !unwind_user_init(state, regs))
		return -EINVAL;

	if (sframe_walk_init(state, max_entries, false))
		state->available_types |= UNWIND_USER_TYPE_SFRAME;
	if (IS_ENABLED(CONFIG_HAVE_UNWIND_USER_FP))
		state->available_types |= UNWIND_USER_TYPE_FP;
	if (IS_ENABLED(CONFIG_HAVE_UNWIND_USER_BACKCHAIN))
		state->available_types |= UNWIND_USER_TYPE_BACKCHAIN;

	return 0;
}

int unwind_user(struct unwind_stacktrace *trace, unsigned int max_entries)
{
	struct unwind_user_state state;

	trace->nr = 0;

	if (!max_entries)
		return -EINVAL;

	if (current->flags & PF_KTHREAD)
		return 0;

	if (unwind_user_start(&state, max_entries))
		return 0;

	trace->entries[trace->nr++] = state.ip;
	if (trace->nr < max_entries)
		unwind_user_walk(&state, trace, max_entries);
	return 0;
}
