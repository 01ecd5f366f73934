/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a traced thread reports. The caller has SIGCHLD blocked, and not
 * ignored. One thread at a time.
 */
#ifndef SFJIT_ATTACH_TRACE_H
#define SFJIT_ATTACH_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum trace_event {
	TRACE_STOP,		/* by PTRACE_INTERRUPT, or its process stopped */
	TRACE_CALL,		/* the beginning or the end of a system call */
	TRACE_SIGNAL,		/* one is to be delivered */
};

struct trace_report {
	enum trace_event event;
	int signal;
};

/* What a thread has to run for, it does in this time, on a busy machine too. */
#define TRACE_RUN_NS	1000000000ULL

uint64_t trace_clock_ns(void);

/* It has ended, is about to, or is one of the kernel: nothing of it runs. */
bool trace_is_none(pid_t tid);
/* It waits for what no signal ends, as in vfork(). */
bool trace_is_blocked(pid_t tid);

/* -ETIMEDOUT, or -ESRCH: the thread has ended. */
int trace_wait(pid_t tid, uint64_t deadline, struct trace_report *report);

/*
 * Waits for TRACE_STOP of a thread that has its own registers. Signals are
 * delivered before it.
 */
int trace_settle(pid_t tid, uint64_t deadline);

#endif /* SFJIT_ATTACH_TRACE_H */
