/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Events of perf that take the stacks of page faults.
 */
#ifndef SFJIT_RUN_EVENT_H
#define SFJIT_RUN_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event {
	pid_t pid;		/* 0: this thread, -1: all */
	int cpu;		/* -1: any */
	bool kernel;		/* also what happens in the kernel */
	bool deferred;		/* stacks as those of fp,defer */
	size_t ring;		/* bytes, a power of two, or 0: no samples */
	int fd;
	void *pages;
};

/* Counts from event_enable() on. Returns 0 or -errno. */
int event_open(struct event *event);
void event_enable(const struct event *event);
void event_close(struct event *event);

/*
 * Calls 'take' for each stack in user space, until it returns true: that, or
 * false, is returned.
 */
bool event_stacks(const struct event *event,
		  bool (*take)(const uint64_t *stack, size_t nr));

#endif /* SFJIT_RUN_EVENT_H */
