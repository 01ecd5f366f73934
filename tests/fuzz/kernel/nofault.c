// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The step for those who must not fault is only to be had inline. */
#include "sframe_step.h"

int nofault_step(struct unwind_user_state *state);

int nofault_step(struct unwind_user_state *state)
{
	return __sframe_step(state, true);
}
