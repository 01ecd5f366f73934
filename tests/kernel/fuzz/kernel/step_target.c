// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* One step from any state. */
#include "input.h"

static void set_state(struct unwind_user_state *state, const struct input *in)
{
	memset(state, 0, sizeof(*state));
	state->ip = in->ip;
	state->sp = in->sp;
	state->fp = in->fp;
	state->lr = in->returns[0];
	state->third = in->returns[1];
	/* What a step without a window has left. */
	state->sp_bound = !MACHINE_FP_GIVES_SP && in->state & STATE_COMPAT;
	if (!MACHINE_BY_FP && in->state & STATE_COMPAT)
		state->fp = ~0UL;
	state->regs = in->state & STATE_NO_REGS ? NULL : &shim_regs;
	state->ri = shim_task.utask ? shim_task.utask->return_instances : NULL;
	state->ws = 8;
	state->sframe.budget = in->budget;
	state->sframe.slack = in->max_frames % (SFRAME_INTERVAL + 1);
	state->sframe.deadline = in->opts_size;
	state->signals = in->signals % 9;
	state->topmost = in->state & STATE_TOPMOST;
	state->exact_ip = in->state & STATE_EXACT;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct unwind_user_state state;
	struct input in;

	input_memory();
	input_load(&in, data, size);
	input_windows(&in);
	input_events(&in);
	set_state(&state, &in);
	compare_step(&state);
	return 0;
}
