/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The daemon at work: takes mappings from events, has new files converted one
 * after the other, and removes tables of files that changed.
 */
#ifndef SFJIT_DAEMON_LOOP_H
#define SFJIT_DAEMON_LOOP_H

#include "events.h"
#include "fileset.h"
#include "worker.h"

struct options {
	uint64_t memory;	/* MiB */
	uint64_t seconds;
	bool verbose;
};

struct daemon {
	const struct options *options;
	int tables, signals;
	struct fileset files;
	struct events events;
	struct worker worker;
	int64_t deadline;	/* of the worker's open(); 0: none */
	bool adds;		/* the worker may have given tables */
	int64_t look;		/* at the rings, not earlier */
	int64_t check;		/* for changed files, not earlier */
	bool mapped;		/* since the last check */
	uint64_t converted, skipped, failed;
	struct pollfd *fds;	/* signals, the worker, and rings */
};

/* Until a signal comes. */
void loop_run(struct daemon *daemon);

#endif /* SFJIT_DAEMON_LOOP_H */
