// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* One step from any state, with both accessors. */
#include "input.h"

static void set_state(struct unwind_user_state *state, const struct input *in)
{
	memset(state, 0, sizeof(*state));
	state->ip = in->ip;
	state->sp = in->sp;
	state->fp = in->fp;
	state->regs = in->state & STATE_NO_REGS ? NULL : &shim_regs;
	state->ri = shim_task.utask ? shim_task.utask->return_instances : NULL;
	state->ws = 8;
	state->budget = in->budget;
	state->signals = in->signals % 9;
	state->topmost = in->state & STATE_TOPMOST;
	state->exact_ip = in->state & STATE_EXACT;
}

static void step(const u8 *data, size_t size, bool nofault)
{
	struct unwind_user_state state;
	struct input in;

	input_load(&in, data, size);
	input_windows(&in);
	input_events(&in);
	set_state(&state, &in);
	/* A task that never registered a window. */
	if (in.state & STATE_KTHREAD)
		shim_task.mm->sframe = NULL;
	compare_step(&state, nofault);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	input_memory();
	step(data, size, true);
	step(data, size, false);
	return 0;
}
