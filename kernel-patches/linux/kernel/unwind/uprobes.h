/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What uprobes change in the registers and on the stack of a task, undone for
 * a walk.
 */
#ifndef _KERNEL_UNWIND_UPROBES_H
#define _KERNEL_UNWIND_UPROBES_H

#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/unwind_user_types.h>
#include <linux/uprobes.h>

/*
 * A pending return probe has replaced the return address of a function by that
 * of its trampoline. Which probe is told by @slot, where the call has put the
 * address: after a longjmp(), or where a task has several stacks, the next one
 * in the list need not be it. Functions that were called in tail position have
 * that and the original return address in common.
 *
 * A function that aligns its stack copies the return address down to its frame
 * pointer, which leads to the @copied one then. No call in between is pending.
 *
 * Return: 0 with the true address in @ra and its place in @slot, or -ESRCH if
 * it is not known.
 */
static __always_inline int
unwind_user_return_address(const struct unwind_user_state *state,
			   const bool copied, unsigned long *slot,
			   unsigned long *ra)
{
#ifdef CONFIG_UPROBES
	const struct return_instance *ri = state->ri, *nearest = NULL;

	if (likely(!ri) || *ra != uprobe_get_trampoline_vaddr())
		return 0;

	for (; ri; ri = ri->next) {
		if (ri->stack < *slot)
			continue;
		if (!nearest || ri->stack < nearest->stack)
			nearest = ri;
	}
	if (!nearest || (nearest->stack != *slot && !copied))
		return -ESRCH;
	*ra = nearest->orig_ret_vaddr;
	*slot = nearest->stack;
#endif
	return 0;
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
