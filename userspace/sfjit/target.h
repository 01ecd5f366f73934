/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The file that a command writes. A regular file is written under another name
 * beside it, and takes its place when it is complete. Anything else that the
 * name leads to (a device, a FIFO, a descriptor) is written to; nothing is
 * renamed or removed then.
 */
#ifndef SFJIT_RUN_TARGET_H
#define SFJIT_RUN_TARGET_H

#include <limits.h>
#include <stdbool.h>

struct target {
	const char *name;		/* for messages */
	char path[PATH_MAX];		/* what the name's links lead to */
	char temporary[PATH_MAX];	/* "": it is written to directly */
	char old[PATH_MAX];		/* "": a file that is there is replaced */
	bool kept;			/* a file that was there is at @old */
	int number;			/* of a descriptor that is meant, or -1 */
	int fd;				/* -1: it is closed */
};

/*
 * Opens it; "-" is standard output. With @keep_old a regular file that is
 * there, and not empty, becomes PATH.old in the end. NULL, or why it cannot be
 * written.
 */
const char *target_open(struct target *target, const char *name, bool keep_old);

/* It is standard output. */
bool target_is_standard(const struct target *target);

/*
 * The output is complete: move it into place. NULL, or why that failed: it
 * stays at @temporary then.
 */
const char *target_finish(struct target *target);

/* Removes the output; @path stays as it was. */
void target_drop(struct target *target);

#endif /* SFJIT_RUN_TARGET_H */
