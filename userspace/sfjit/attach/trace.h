/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Events of a traced thread, one thread at a time. The caller must block
 * SIGCHLD, and not ignore it.
 */
#ifndef SFJIT_ATTACH_TRACE_H
#define SFJIT_ATTACH_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum trace_event {
	TRACE_STOP,		/* PTRACE_INTERRUPT, or a stopped process */
	TRACE_CALL,		/* start or end of a system call */
	TRACE_SIGNAL,		/* a signal to deliver */
};

struct trace_report {
	enum trace_event event;
	int signal;
};

/* Enough for a thread to be scheduled, even on a busy machine. */
#define TRACE_RUN_NS	1000000000ULL

uint64_t trace_clock_ns(void);

/* The thread has exited, is exiting, or is a kernel thread. */
bool trace_is_none(pid_t tid);
/* The thread is in an uninterruptible wait, as in vfork(). */
bool trace_is_blocked(pid_t tid);

/* Returns 0, -ETIMEDOUT, or -ESRCH if the thread has exited. */
int trace_wait(pid_t tid, uint64_t deadline, struct trace_report *report);

/*
 * Waits for TRACE_STOP, where the thread has its own registers. Signals are
 * delivered before it.
 */
int trace_settle(pid_t tid, uint64_t deadline);

#endif /* SFJIT_ATTACH_TRACE_H */
