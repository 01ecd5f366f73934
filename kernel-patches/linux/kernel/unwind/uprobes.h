/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Undo, for a walk, what uprobes change in the registers and on the stack of a
 * task.
 */
#ifndef _KERNEL_UNWIND_UPROBES_H
#define _KERNEL_UNWIND_UPROBES_H

#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/unwind_user_types.h>
#include <linux/uprobes.h>

/*
 * A pending return probe has replaced the return address of a function with
 * that of its trampoline. Find the probe by @slot, the stack pointer at the
 * function's entry: after a longjmp(), or if a task has several stacks, it need
 * not be the next one in the list. Tail calls share the slot and the original
 * return address.
 *
 * A function that realigns its stack copies the return address down to its
 * frame pointer, which then leads to the @copied one. No call in between is
 * pending.
 *
 * Return: 0 with the original address in @ra and its slot in @slot, or -ESRCH
 * if it is not known.
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
 * A probed instruction runs out of line. Report and unwind the probed address,
 * not the XOL slot.
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
