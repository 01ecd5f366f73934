/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Callchains at an address, by a breakpoint. After tap.h. */
#ifndef CALLCHAIN_H
#define CALLCHAIN_H

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE		4096
#define RING		(8 * PAGE)
#define MOST		64

struct chain {
	unsigned int nr;
	uint64_t ips[MOST];
};

static struct perf_event_mmap_page *ring;
static int event;

static void open_event(uint64_t address)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X, .bp_addr = address,
		.bp_len = sizeof(long), .sample_period = 1,
		.sample_type = PERF_SAMPLE_CALLCHAIN, .exclude_kernel = 1,
		.exclude_hv = 1, .exclude_callchain_kernel = 1,
	};

	event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	MUST(event >= 0);
	ring = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED,
		    event, 0);
	MUST(ring != MAP_FAILED);
}

/* The first sample, without the marks of contexts. */
static void read_chain(struct chain *chain)
{
	const uint64_t *p = (void *)((char *)ring + PAGE);
	const struct perf_event_header *header = (const void *)p;
	uint64_t i;

	chain->nr = 0;
	if (!ring->data_head || header->type != PERF_RECORD_SAMPLE)
		return;
	for (i = 0; i < p[1] && chain->nr < MOST; i++)
		if (p[2 + i] < PERF_CONTEXT_MAX)
			chain->ips[chain->nr++] = p[2 + i];
}

static void close_event(void)
{
	munmap(ring, PAGE + RING);
	close(event);
}

/* QEMU's TCG misses an instruction breakpoint in about 10,000: call it again. */
#define MISSES	3

static bool has_fired(void)
{
	uint64_t times;

	MUST(read(event, &times, sizeof(times)) == sizeof(times));
	return times;
}

#endif /* CALLCHAIN_H */
