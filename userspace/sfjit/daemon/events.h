/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Executable mappings of all processes, as perf records them.
 */
#ifndef SFJIT_DAEMON_EVENTS_H
#define SFJIT_DAEMON_EVENTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <sfjit-stacks.h>

#define RING_BYTES	(64UL << 10)

/* A record has at most 65,535 bytes. */
struct events {
	struct pollfd *fds;	/* one of each CPU */
	void **pages;		/* the ring of each: a page, and RING_BYTES */
	size_t nr;
	_Alignas(8) char record[1 << 16];
};

/* Takes a mapping, which is valid until it returns. */
typedef void (*events_take)(void *arg, pid_t pid, uint64_t generation,
			    const struct sfjit_stacks_mapping *mapping);

/* Of all processes, from now on. Returns 0 or -errno. */
int events_open(struct events *events);
void events_close(struct events *events);

/* Empties all rings. Returns whether records were lost. */
bool events_drain(struct events *events, events_take take, void *arg);

#endif /* SFJIT_DAEMON_EVENTS_H */
