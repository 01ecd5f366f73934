// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* One step of the kernel's and of the reference's, see model.c. */
#include <linux/sframe.h>

#include "input.h"

const struct step *compare_step(struct unwind_user_state *state)
{
	struct sframe_walk *walk = &state->sframe;

	model_start(true);
	walk->reg = &model.registry;
	/* No address is in this range. */
	walk->first = 0;
	walk->length = 0;
	shim_rcu_lock();
	sframe_step(state);
	shim_rcu_unlock(NULL);
	model_end();
	return &model.steps[0];
}
