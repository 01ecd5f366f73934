// SPDX-License-Identifier: GPL-2.0
/*
 * User callchains of perf through SFrame windows, without page faults.
 */
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sframe.h>

#include "sframe.h"
#include "user.h"

/*
 * Return: 0, or nonzero if the walk ends.
 *
 * Follow the frame pointer only outside of windows, or where a table says so.
 * Rows either restore it or keep it, so it is still valid after them.
 */
static int sframe_callchain_next(struct unwind_user_state *state)
{
	int ret = sframe_step(state);

	if (ret == -ENOENT) {
		ret = unwind_user_step_fallback(state);
		if (ret)
			sframe_fallback_refused(state);
		return ret;
	}
	if (likely(!ret))
		return state->done;
	sframe_refused(state);
	return ret;
}

/* Make several steps at once and store the callers. */
static void sframe_callchain_steps(struct perf_callchain_entry_ctx *entry,
				   struct unwind_user_state *state)
{
	struct perf_callchain_entry *chain = entry->entry;
	unsigned int nr;

	static_assert(sizeof(*chain->ip) == sizeof(long));
	do {
		nr = sframe_steps(state, (unsigned long *)chain->ip + chain->nr,
				  entry->max_stack - entry->nr);
		chain->nr += nr;
		entry->nr += nr;
	} while (nr);
}

/**
 * sframe_callchain_user - store the callers of a sample
 * @entry:	the callchain, which already holds the sampled address
 * @regs:	user registers of current, in native 64-bit mode
 *
 * Context: Any, including NMI, with page faults and preemption disabled and
 * nmi_uaccess_okay().
 * Return: false if current has no windows to use.
 */
bool sframe_callchain_user(struct perf_callchain_entry_ctx *entry,
			   struct pt_regs *regs)
{
	struct unwind_user_state state __uninitialized;

	if (!unwind_user_init(&state, regs) ||
	    !sframe_walk_init(&state, entry->max_stack, true))
		return false;

	guard(rcu)();
	while (entry->nr < entry->max_stack) {
		if (sframe_callchain_next(&state))
			break;
		/* Stop when the callchain is full: the stack may be a loop. */
		if (perf_callchain_store(entry, state.ip))
			break;
		sframe_callchain_steps(entry, &state);
	}
	return true;
}

/**
 * sframe_callchain - store a sample and its callers
 * @entry:	the callchain
 * @regs:	user registers of current, in native 64-bit mode
 *
 * Context: Any that perf takes callchains in, with preemption disabled.
 * Return: false, with nothing stored, if current has no windows to use.
 */
bool sframe_callchain(struct perf_callchain_entry_ctx *entry,
		      struct pt_regs *regs)
{
	u64 nr_chain = entry->entry->nr;
	u32 nr = entry->nr;
	bool used;

	perf_callchain_store(entry, instruction_pointer(regs));
	pagefault_disable();
	used = sframe_callchain_user(entry, regs);
	pagefault_enable();
	if (!used) {
		entry->entry->nr = nr_chain;
		entry->nr = nr;
	}
	return used;
}
