/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What tests/system/guest/edges.c is told of a machine: edges-ARCH.c.
 */
#ifndef SFJIT_TESTS_EDGES_H
#define SFJIT_TESTS_EDGES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event {
	int fd;
	struct perf_event_mmap_page *ring;
	bool deferred;
};

/**
 * struct edges_linkage - what a PLT looks like
 * @header_size:	bytes of its first entry
 * @entry_size:		bytes of each other one
 * @header:		where instructions begin in the first entry
 * @header_insns:	how many
 * @entry:		where they begin in another one
 * @entry_insns:	how many
 * @bound_insns:	of those, what runs when the function is bound
 * @vdso_frames:	functions of the vDSO on the way to the clock, at most
 */
struct edges_linkage {
	size_t		header_size, entry_size;
	uint8_t		header[8];
	int		header_insns;
	uint8_t		entry[8];
	int		entry_insns, bound_insns;
	int		vdso_frames;
};

extern const struct edges_linkage edges_linkage;

/* What each event is here: disabled, of user space, with callchains. */
void edges_fill(struct perf_event_attr *attr);

/* An event, and its ring; the process may be one that shares the memory. */
void edges_open(struct event *event, struct perf_event_attr *attr, pid_t pid);

/*
 * Opens an event that samples where the instruction at an address is the next
 * one, and calls, with it, or with NULL if it is enabled at the right time.
 */
void edges_stop_at(struct event *event, uintptr_t at,
		   void (*call)(struct event *event));

#endif /* SFJIT_TESTS_EDGES_H */
