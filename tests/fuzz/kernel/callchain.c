// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The walk of a sample; each step, which is inlined there, is compared. */
#include "model.h"
#include "sframe_step.h"

static int step(struct unwind_user_state *state)
{
	return sframe_step_inline(state);
}

#define sframe_step_inline(state)	model_step(state, step)

#include "sframe_callchain.c"
