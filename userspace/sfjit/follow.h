/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * sfjit run --reasons: saves what the kernel has counted in each process, when
 * it ends.
 */
#ifndef SFJIT_RUN_FOLLOW_H
#define SFJIT_RUN_FOLLOW_H

#include <sys/types.h>

/* A process that traces this one and is not its child. */
struct tracer {
	long options;		/* of PTRACE_SEIZE */
	/* Runs there, without standard streams; the process ends after it. */
	void (*run)(pid_t pid, void *argument);
	void *argument;
};

/* Returns once it traces: 0 or -errno. */
int tracer_start(const struct tracer *tracer);

/*
 * Starts a tracer of this process and of those that it will make, which writes
 * to the file and ends with the last of them. It is no child of this process.
 * Returns 0 or -errno.
 */
int follow(const char *file);

#endif /* SFJIT_RUN_FOLLOW_H */
