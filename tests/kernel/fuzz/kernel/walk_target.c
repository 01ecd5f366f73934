// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Whole walks: perf's, which must not fault, and the deferred one. Each is
 * repeated, as nothing is kept of a walk, and made again with other windows.
 */
#include <linux/sframe.h>
#include <linux/unwind_user.h>

#include "input.h"

/* UNWIND_MAX_ENTRIES and the default of kernel.perf_event_max_stack. */
#define DEFERRED_MAX	510
#define PERF_MAX	127

static unsigned long ips[DEFERRED_MAX], want[DEFERRED_MAX];

/* A walk, and why it has ended. */
struct chain {
	unsigned long ips[DEFERRED_MAX];
	unsigned int nr;
	enum sframe_reason reason;
};

static struct chain first;

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
	struct sframe_counters *counters = &model.registry.counters;
	u64 sum = 0;
	int i;

	for (i = 0; i < SFRAME_NR_REASONS; i++)
		sum += counters->refused[i];
	if (sum != (reason != SFRAME_REASON_NONE) ||
	    counters->refused[reason] != sum ||
	    counters->last_reason != reason)
		finding("another reason is counted");
	memset(counters, 0, sizeof(*counters));
}

static void begin(struct input *in, const u8 *data, size_t size)
{
	input_load(in, data, size);
	model.limit = in->budget ?: 1;
	input_windows(in);
	input_events(in);
}

static enum sframe_reason perf_walk(const struct input *in, unsigned int *nr)
{
	struct perf_callchain_entry chain = { .ip = (u64 *)ips };
	struct perf_callchain_entry_ctx entry = { .entry = &chain };
	enum sframe_reason reason;

	model_start(true);
	entry.max_stack = in->max_frames ? in->max_frames % PERF_MAX : PERF_MAX;
	entry.contexts_maxed = in->state & STATE_NO_REGS;
	sframe_callchain_user(&entry, &shim_regs);
	model_end();
	*nr = entry.nr;
	if (chain.nr != entry.nr)
		finding("addresses are counted otherwise");
	compare(*nr, ref_perf_walk(want, entry.max_stack, entry.contexts_maxed,
				   &reason));
	compare_refused(reason);
	return reason;
}

static enum sframe_reason deferred_walk(const struct input *in,
					unsigned int *nr)
{
	unsigned int max = in->max_frames ? in->max_frames : DEFERRED_MAX;
	struct unwind_stacktrace trace = { .entries = ips };
	enum sframe_reason reason;

	model_start(false);
	unwind_user(&trace, max);
	model_end();
	*nr = trace.nr;
	compare(*nr, ref_deferred_walk(want, max, &reason));
	compare_refused(reason);
	return reason;
}

/* How far such a walk gets depends on what is there. */
static bool ends_anywhere(enum sframe_reason reason)
{
	return reason == SFRAME_REASON_BUDGET ||
	       reason == SFRAME_REASON_DEADLINE ||
	       reason == SFRAME_REASON_SECTION_FAULT ||
	       reason == SFRAME_REASON_STACK_FAULT;
}

static void compare_again(unsigned int nr, enum sframe_reason reason)
{
	if (memcmp(ips, first.ips, min(nr, first.nr) * sizeof(*ips)))
		finding("the same walk leads elsewhere");
	if (ends_anywhere(reason) || ends_anywhere(first.reason))
		return;
	if (nr != first.nr || reason != first.reason)
		finding("the same walk ends elsewhere");
}

static void walk_again(const u8 *data, size_t size,
		       enum sframe_reason (*walk)(const struct input *in,
						  unsigned int *nr))
{
	enum sframe_reason reason;
	struct input in;
	unsigned int nr;

	begin(&in, data, size);
	first.reason = walk(&in, &first.nr);
	memcpy(first.ips, ips, first.nr * sizeof(*ips));
	reason = walk(&in, &nr);
	if (!model.nr_events)
		compare_again(nr, reason);
	if (model.at[0])
		model_change_windows();
	walk(&in, &nr);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	input_memory();
	walk_again(data, size, perf_walk);
	walk_again(data, size, deferred_walk);
	return 0;
}
