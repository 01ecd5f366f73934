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

/* As of a thread that has ended, if it cannot be read. */
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
	/* A name may have any character. */
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

/* Of several children that report at once there may be one signal. */
static bool wait_for_any(uint64_t until)
{
	uint64_t now = trace_clock_ns(), left = until > now ? until - now : 0;
	const struct timespec timeout = { left / SECOND, left % SECOND };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return sigtimedwait(&set, NULL, &timeout) >= 0 || errno == EINTR;
}

/* 0 and no status: nothing yet. -ESRCH: it has ended. */
static int look(pid_t tid, int *status)
{
	pid_t got = waitpid(tid, status, __WALL | WNOHANG);

	if (!got)
		*status = 0;
	return got < 0 || (got && !WIFSTOPPED(*status)) ? -ESRCH : 0;
}

/* Most reports come at once: to sleep and to be woken takes longer. */
static int spin(pid_t tid, int *status)
{
	uint64_t end = trace_clock_ns() + SPIN_NS;
	int ret;

	do {
		sched_yield();
		ret = look(tid, status);
	} while (!ret && !*status && trace_clock_ns() < end);
	return ret;
}

/*
 * Who dies has to run for it, and stays until its tracer has waited for it. What
 * is dead and still there is a first thread, whose others are not gone.
 */
static int reap(pid_t tid)
{
	uint64_t now = trace_clock_ns(), end = now + TRACE_RUN_NS;
	unsigned int flags;
	int status;
	char state;

	for (;; now = trace_clock_ns()) {
		state = read_stat(tid, &flags);
		if (look(tid, &status) || now >= end ||
		    state == 'Z' || state == 'D')
			return -ESRCH;
		wait_for_any(now + LOOK_NS);
	}
}

/* A first thread that has ended reports it when all others are gone. */
static int wait_more(pid_t tid, uint64_t deadline, int *status)
{
	uint64_t until = trace_clock_ns() + LOOK_NS;
	bool none;
	int ret;

	if (wait_for_any(until < deadline ? until : deadline))
		return look(tid, status);
	none = trace_is_none(tid);
	ret = look(tid, status);
	if (ret || *status)
		return ret;
	if (until >= deadline)
		return none ? reap(tid) : -ETIMEDOUT;
	return 0;
}

int trace_wait(pid_t tid, uint64_t deadline, struct trace_report *report)
{
	int status, ret = spin(tid, &status);

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
