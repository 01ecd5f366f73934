/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * All threads of a process, stopped. A thread that ends meanwhile is none of
 * them any more. Those of the kernel, as of io_uring, run on: they have no
 * instructions of the program.
 */
#ifndef SFJIT_ATTACH_THREADS_H
#define SFJIT_ATTACH_THREADS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct threads {
	pid_t pid;
	pid_t *tids;
	size_t nr;
	uint64_t since;		/* trace_clock_ns() of the first stop */
};

/*
 * Returns 0; -ETIMEDOUT if a thread waits in the kernel and cannot be stopped,
 * as in vfork(); -ESRCH; -EPERM. A thread that could not be stopped is traced
 * until this process ends. threads_release() in each case.
 */
int threads_stop(struct threads *threads, pid_t pid);

/* They go on with the registers that they have. */
void threads_release(struct threads *threads);

#endif /* SFJIT_ATTACH_THREADS_H */
