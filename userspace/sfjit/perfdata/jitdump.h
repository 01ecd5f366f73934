/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Files in which processes describe the code that they generate: jitdumps.
 */
#ifndef SFJIT_PERFDATA_JITDUMP_H
#define SFJIT_PERFDATA_JITDUMP_H

#include <jitdump-format.h>
#include <sfjit-stacks.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "meta.h"

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

/* What goes of the code in a jitdump: the file beside it. */

struct retired;

/*
 * That of the jitdump with this path and header; *@retired is NULL if there is
 * none, or that of another process. Returns 0, or -ENOMEM.
 */
int retired_open(const char *path, const struct jitdump_header *header,
		 struct retired **retired);

/* NULL is none. */
void retired_close(struct retired *retired);

/* The next one up to a time; false: it is later, or not there yet. */
bool retired_take(struct retired *retired, uint64_t until,
		  struct jitdump_retired *next);

#endif /* SFJIT_PERFDATA_JITDUMP_H */
