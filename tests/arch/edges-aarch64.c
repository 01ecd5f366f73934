// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * AArch64 for edges.c: each instruction has 4 bytes, and the processor has
 * events at one.
 */
#include <linux/hw_breakpoint.h>

#include "edges.h"

const struct edges_linkage edges_linkage = {
	.header_size = 32, .entry_size = 16,
	.header = { 0, 4, 8, 12, 16 }, .header_insns = 5,
	.entry = { 0, 4, 8, 12 }, .entry_insns = 4, .bound_insns = 4,
	.vdso_frames = 1,
};

void edges_stop_at(struct event *event, uintptr_t at,
		   void (*call)(struct event *event))
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .sample_period = 1,
		.bp_type = HW_BREAKPOINT_X, .bp_addr = at,
		.bp_len = HW_BREAKPOINT_LEN_4,
	};

	edges_fill(&attr);
	edges_open(event, &attr, 0);
	call(event);
}
