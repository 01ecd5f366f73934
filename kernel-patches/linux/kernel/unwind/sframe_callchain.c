// SPDX-License-Identifier: GPL-2.0
/*
 * User callchains of perf through SFrame windows, without page faults.
 */
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sframe.h>
#include <linux/uaccess.h>

#include "sframe.h"
#include "sframe_step.h"
#include "user.h"

/*
 * Only where no window covers the address does the frame pointer decide. Rows
 * either restore it or leave it as it is, so it may be trusted behind them.
 * Steps by frame pointer are not checked: they never were for perf, and stacks
 * that are not one piece of memory would lose frames.
 */
static int sframe_callchain_next(struct unwind_user_state *state)
{
	int ret = __sframe_step(state, true);

	if (ret == -ENOENT)
		ret = unwind_user_apply_fp(state, false, true);
	return ret;
}

/**
 * sframe_callchain_user - store the callers of a sample
 * @entry:	the callchain; holds the sampled address already
 * @regs:	user registers of current, in native 64-bit mode
 *
 * Context: Any, including NMI, with page faults disabled and
 * nmi_uaccess_okay().
 */
void sframe_callchain_user(struct perf_callchain_entry_ctx *entry,
			   struct pt_regs *regs)
{
	struct unwind_user_state state;

	/* Windows are for tasks with the kernel's word size. */
	if (!unwind_user_init(&state, regs, UNWIND_USER_BUDGET_NOFAULT) ||
	    state.ws != sizeof(long))
		return;

	while (entry->nr < entry->max_stack) {
		if (sframe_callchain_next(&state) || state.done)
			break;
		/* A full callchain does not grow: the stack may be a loop. */
		if (perf_callchain_store(entry, state.ip))
			break;
	}
}
