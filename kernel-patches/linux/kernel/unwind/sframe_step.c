// SPDX-License-Identifier: GPL-2.0
/*
 * One step of a walk through an SFrame window: find the window, its rules for
 * the address, apply them.
 */
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/sframe.h>

#include "sframe.h"
#include "sframe_step.h"

/**
 * sframe_step - step to the caller, taking page faults as needed
 * @state:	position of the walk
 *
 * Context: Process context. May sleep.
 * Return: 0, with state->done set at the outermost frame; -ENOENT if no window
 * covers the address; -EINVAL if one does and yields no frame.
 */
int sframe_step(struct unwind_user_state *state)
{
	return __sframe_step(state, false);
}
