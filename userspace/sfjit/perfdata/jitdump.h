/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Files in which processes describe the code that they generate: jitdumps.
 */
#ifndef SFJIT_PERFDATA_JITDUMP_H
#define SFJIT_PERFDATA_JITDUMP_H

#include <sfjit-stacks.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cycles.h"

struct jitdump;

/*
 * Passes their records to @stacks. Gives @say a line for each that cannot be
 * used, which is no failure.
 */
struct jitdumps {
	struct sfjit_stacks *stacks;
	bool monotonic;		/* times of the recording are theirs */
	const struct cycles *cycles; /* or are made of these; NULL: are not */
	void (*say)(void *arg, const char *line);
	void *arg;
	struct jitdump *first;
	uint8_t *window;	/* of the file that is being read */
	bool said_clock;
};

void jitdumps_free(struct jitdumps *dumps);

/* Whether a mapping of that file says that there is one. */
bool jitdump_is_marker(const char *path);

/* 0, or -ENOMEM. */
int jitdumps_add(struct jitdumps *dumps, pid_t pid, uint64_t time,
		 const char *path);

/*
 * perf inject --jit replaces the marker by a mapping for each record, of a file
 * that it makes. 1: this is one, and nothing has to be known of it, since the
 * jitdump is still there, and also says when code goes; 0, or -ENOMEM.
 */
int jitdumps_take_over(struct jitdumps *dumps, pid_t pid, uint64_t time,
		       const char *path);

/* Whether one of the process's files may still describe code that runs now. */
bool jitdumps_expect(const struct jitdumps *dumps, pid_t pid);

/* Reads what was generated up to a time. 0, or -ENOMEM. */
int jitdumps_read(struct jitdumps *dumps, uint64_t until);

/* A process is gone: its files are read once more. */
void jitdumps_remove(struct jitdumps *dumps, pid_t pid);

#endif /* SFJIT_PERFDATA_JITDUMP_H */
