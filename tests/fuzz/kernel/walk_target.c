// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Whole walks: perf's, which must not fault, and the deferred one. */
#include <linux/sframe.h>
#include <linux/unwind_user.h>

#include "input.h"
#include "user.h"

/* UNWIND_MAX_ENTRIES and the default of kernel.perf_event_max_stack. */
#define DEFERRED_MAX	510
#define PERF_MAX	127

static unsigned long ips[DEFERRED_MAX], want[DEFERRED_MAX];

static void compare(unsigned int nr, unsigned int want_nr)
{
	if (nr != want_nr)
		finding("a walk of another length");
	if (memcmp(ips, want, nr * sizeof(*ips)))
		finding("another frame");
	if (!model_all_taken())
		finding("a walk reads what it does not need");
}

static void begin(struct input *in, const u8 *data, size_t size,
		  unsigned int budget, bool nofault)
{
	input_load(in, data, size);
	input_windows(in);
	input_events(in);
	model_start(nofault);
	model.walks = true;
	model.budget_left = budget;
}

static void perf_walk(const u8 *data, size_t size)
{
	struct perf_callchain_entry_ctx entry = { .entries = ips };
	struct input in;

	begin(&in, data, size, UNWIND_USER_BUDGET_NOFAULT, true);
	entry.max_stack = in.max_frames ? in.max_frames % PERF_MAX : PERF_MAX;
	entry.limit = in.state & STATE_NO_REGS ? 3 : PERF_MAX;
	sframe_callchain_user(&entry, &shim_regs);
	model_end();
	compare(entry.nr, ref_perf_walk(want, entry.max_stack, entry.limit));
}

static void deferred_walk(const u8 *data, size_t size)
{
	struct unwind_stacktrace trace = { .entries = ips };
	unsigned int max;
	struct input in;

	begin(&in, data, size, UNWIND_USER_BUDGET, false);
	max = in.max_frames ? in.max_frames : DEFERRED_MAX;
	unwind_user(&trace, max);
	model_end();
	compare(trace.nr, ref_deferred_walk(want, max));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	input_memory();
	perf_walk(data, size);
	deferred_walk(data, size);
	return 0;
}
