/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A worker opens one file, has it converted, and gives the tables to the
 * kernel. The daemon itself never holds a file: a file system such as FUSE may
 * block each call for ever, close() too. Then the worker is killed, or left
 * alone if it cannot be.
 */
#ifndef SFJIT_DAEMON_WORKER_H
#define SFJIT_DAEMON_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fileset.h"

enum worker_step {
	WORKER_OPENED,		/* the file is open */
	WORKER_HAS_TABLES,	/* of 'bytes'; it waits for worker_go() */
	/* The last ones. */
	WORKER_ADDED,		/* 'ids'; 'error' of the first that failed */
	WORKER_NO_FILE,		/* it cannot be opened: 'error' */
	WORKER_SKIPS,		/* no program or library of this machine */
	WORKER_FAILED,		/* there is no CFI, or it is damaged */
	WORKER_LATE,		/* converting blocked */
	WORKER_DIED,
};

struct worker_news {
	enum worker_step step;
	int error;
	uint64_t bytes;
	unsigned int ids[TABLES_MOST];
	unsigned int nr;
};

struct worker {
	pid_t pid;
	int socket;		/* -1: there is none */
};

struct worker_orders {
	pid_t pid;		/* a process that has the file mapped */
	const struct sfjit_stacks_mapping *mapping;
	int tables;		/* the kernel's descriptor */
	size_t most;		/* bytes of tables */
	int seconds;		/* that it may block, or compute */
	bool verbose;		/* the converter says why it failed */
};

/* Returns 0 or -errno. */
int worker_start(struct worker *worker, const struct worker_orders *orders);

/* When the socket is readable. */
void worker_hear(const struct worker *worker, struct worker_news *news);
void worker_go(const struct worker *worker);

/* After the last news; kills it otherwise. */
void worker_end(struct worker *worker);

/* It waits for something, or is gone: it does not only lack CPU time. */
bool worker_is_blocked(pid_t pid);

#endif /* SFJIT_DAEMON_WORKER_H */
