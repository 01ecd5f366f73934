/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What uprobes change in the registers and on the stack of a task, undone for
 * a walk.
 */
#ifndef _KERNEL_UNWIND_UPROBES_H
#define _KERNEL_UNWIND_UPROBES_H

#include <linux/sched.h>
#include <linux/unwind_user_types.h>
#include <linux/uprobes.h>

/*
 * A pending return probe has replaced the return address on the stack by that
 * of its trampoline. The probes of functions that were called in tail
 * position share one stack slot: all but the last are marked chained.
 */
static __always_inline unsigned long
unwind_user_return_address(struct unwind_user_state *state, unsigned long ra)
{
#ifdef CONFIG_UPROBES
	struct return_instance *ri = state->ri;

	if (likely(!ri) || ra != uprobe_get_trampoline_vaddr())
		return ra;

	while (ri->chained && ri->next)
		ri = ri->next;
	state->ri = ri->next;
	return ri->orig_ret_vaddr;
#else
	return ra;
#endif
}

/*
 * A probed instruction is run out of line. What it needs of the stack is that
 * of its own address, which is the one to report and to look up.
 */
static inline void unwind_user_init_uprobes(struct unwind_user_state *state)
{
#ifdef CONFIG_UPROBES
	struct uprobe_task *utask = current->utask;

	if (likely(!utask))
		return;
	state->ri = utask->return_instances;
	if (utask->active_uprobe && state->ip == utask->xol_vaddr)
		state->ip = utask->vaddr;
#endif
}

#endif /* _KERNEL_UNWIND_UPROBES_H */
