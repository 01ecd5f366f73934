// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Whole walks: perf's, which must not fault, and the deferred one. */
#include <linux/sframe.h>
#include <linux/unwind_user.h>

#include "input.h"

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
	if (!model_all_taken() || model.next_step != model.nr_steps)
		finding("a walk reads what it does not need");
}

static void compare_refused(enum sframe_reason reason)
{
	const struct sframe_counters *counters = &model.registry.counters;
	u64 sum = 0;
	int i;

	for (i = 0; i < SFRAME_NR_REASONS; i++)
		sum += counters->refused[i];
	if (sum != (reason != SFRAME_REASON_NONE) ||
	    counters->refused[reason] != sum ||
	    counters->last_reason != reason)
		finding("another reason is counted");
}

static void begin(struct input *in, const u8 *data, size_t size, bool in_sample)
{
	input_load(in, data, size);
	/* 0 switches windows off. */
	model.limit = in->budget;
	input_windows(in);
	input_events(in);
	model_start(in_sample);
}

static void perf_walk(const u8 *data, size_t size)
{
	struct perf_callchain_entry_ctx entry = { .entries = ips };
	enum sframe_reason reason;
	struct input in;
	unsigned int nr;

	begin(&in, data, size, true);
	entry.max_stack = in.max_frames ? in.max_frames % PERF_MAX : PERF_MAX;
	entry.limit = in.state & STATE_NO_REGS ? 3 : PERF_MAX;
	sframe_callchain_user(&entry, &shim_regs);
	model_end();
	nr = ref_perf_walk(want, entry.max_stack, entry.limit, &reason);
	compare(entry.nr, nr);
	compare_refused(reason);
}

static void deferred_walk(const u8 *data, size_t size)
{
	struct unwind_stacktrace trace = { .entries = ips };
	enum sframe_reason reason;
	unsigned int max, nr;
	struct input in;

	begin(&in, data, size, false);
	max = in.max_frames ? in.max_frames : DEFERRED_MAX;
	unwind_user(&trace, max);
	model_end();
	nr = ref_deferred_walk(want, max, &reason);
	compare(trace.nr, nr);
	compare_refused(reason);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	input_memory();
	perf_walk(data, size);
	deferred_walk(data, size);
	return 0;
}
