// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "trace.h"

#define SECOND	1000000000ULL
#define LOOK_NS	10000000ULL
#define SPIN_NS	100000ULL
#define YIELD_NS	1000000ULL

/* From <linux/sched.h> of the kernel, in /proc/PID/stat. */
#define PF_EXITING	0x00000004
#define PF_IO_WORKER	0x00000010
#define PF_USER_WORKER	0x00004000
#define PF_KTHREAD	0x00200000
#define PF_NONE	(PF_EXITING | PF_IO_WORKER | PF_USER_WORKER | PF_KTHREAD)

uint64_t trace_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* If the file cannot be read, the thread has exited: return 'X'. */
static char read_stat(pid_t tid, unsigned int *flags)
{
	char line[512], *end, state;
	FILE *file;

	*flags = PF_EXITING;
	snprintf(line, sizeof(line), "/proc/%d/stat", tid);
	file = fopen(line, "re");
	if (!file)
		return 'X';
	line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
	fclose(file);
	/*
	 * A name may contain any character, so parse after the last
	 * parenthesis.
	 */
	end = strrchr(line, ')');
	if (!end || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", &state,
			   flags) != 2)
		return 'X';
	return state;
}

bool trace_is_none(pid_t tid)
{
	unsigned int flags;
	char state = read_stat(tid, &flags);

	return state == 'Z' || state == 'X' || flags & PF_NONE;
}

bool trace_is_blocked(pid_t tid)
{
	unsigned int flags;

	return read_stat(tid, &flags) == 'D';
}

/* PTRACE_O_TRACESYSGOOD adds 0x80. */
static void read_status(int status, struct trace_report *report)
{
	report->signal = WSTOPSIG(status);
	report->event = TRACE_SIGNAL;
	if (status >> 16 == PTRACE_EVENT_STOP)
		report->event = TRACE_STOP;
	else if (report->signal == (SIGTRAP | 0x80))
		report->event = TRACE_CALL;
}

/* Children that report at the same time may raise one signal. */
static bool wait_for_any(uint64_t until)
{
	uint64_t now = trace_clock_ns(), left = until > now ? until - now : 0;
	const struct timespec timeout = { left / SECOND, left % SECOND };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return sigtimedwait(&set, NULL, &timeout) >= 0 || errno == EINTR;
}

/* Returns 0 with status 0 if there is no report yet, -ESRCH after an exit. */
static int poll_report(pid_t tid, int *status)
{
	pid_t got = waitpid(tid, status, __WALL | WNOHANG);

	if (!got)
		*status = 0;
	return got < 0 || (got && !WIFSTOPPED(*status)) ? -ESRCH : 0;
}

/* A yield lasted so long: other programs want this CPU. */
static bool crowded;

/*
 * Most reports arrive at once; sleeping and waking would take longer. But a yield
 * may give the CPU away for milliseconds, while a sleep ends with the report.
 */
static int spin_for_report(pid_t tid, int *status)
{
	uint64_t now = trace_clock_ns(), end = now + SPIN_NS, before;
	int ret;

	if (crowded)
		return poll_report(tid, status);
	do {
		before = now;
		sched_yield();
		ret = poll_report(tid, status);
		now = trace_clock_ns();
	} while (!ret && !*status && now < end);
	crowded = now - before > YIELD_NS;
	return ret;
}

/*
 * A dying thread must be scheduled once, and stays a zombie until we wait for
 * it. A zombie that remains is a group leader with live threads.
 */
static int reap(pid_t tid)
{
	uint64_t now = trace_clock_ns(), end = now + TRACE_RUN_NS;
	unsigned int flags;
	int status;
	char state;

	for (;; now = trace_clock_ns()) {
		state = read_stat(tid, &flags);
		if (poll_report(tid, &status) || now >= end ||
		    state == 'Z' || state == 'D')
			return -ESRCH;
		wait_for_any(now + LOOK_NS);
	}
}

/*
 * A group leader that has exited reports it after all other threads are gone.
 */
static int wait_more(pid_t tid, uint64_t deadline, int *status)
{
	uint64_t until = trace_clock_ns() + LOOK_NS;
	bool none;
	int ret;

	if (wait_for_any(until < deadline ? until : deadline))
		return poll_report(tid, status);
	none = trace_is_none(tid);
	ret = poll_report(tid, status);
	if (ret || *status)
		return ret;
	if (until >= deadline)
		return none ? reap(tid) : -ETIMEDOUT;
	return 0;
}

int trace_wait(pid_t tid, uint64_t deadline, struct trace_report *report)
{
	int status, ret = spin_for_report(tid, &status);

	while (!ret && !status)
		ret = wait_more(tid, deadline, &status);
	if (!ret)
		read_status(status, report);
	return ret;
}

int trace_settle(pid_t tid, uint64_t deadline)
{
	struct trace_report report;
	int ret;

	while (!(ret = trace_wait(tid, deadline, &report)) &&
	       report.event != TRACE_STOP)
		ptrace(PTRACE_CONT, tid, 0, report.signal);
	return ret;
}
