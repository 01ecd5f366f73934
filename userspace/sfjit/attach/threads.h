/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Stop all threads of a process. Threads that exit meanwhile are left out.
 * Kernel threads of the process, such as io_uring workers, run on: they execute
 * no code of the program.
 */
#ifndef SFJIT_ATTACH_THREADS_H
#define SFJIT_ATTACH_THREADS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct threads {
	pid_t pid;
	pid_t *tids;
	size_t nr, max;
	uint64_t since;		/* trace_clock_ns() of the first stop */
};

/*
 * Returns 0; -ETIMEDOUT if a thread waits uninterruptibly in the kernel, as in
 * vfork(); -ESRCH; -EPERM. Threads that could not be stopped stay traced until
 * sfjit exits. Call threads_release() even on failure.
 */
int threads_stop(struct threads *threads, pid_t pid);

/* Detaches from all threads. */
void threads_release(struct threads *threads);

#endif /* SFJIT_ATTACH_THREADS_H */
