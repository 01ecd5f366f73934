// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include <grow.h>

#include "../util.h"
#include "threads.h"
#include "trace.h"

/* A thread in a disk read stops when the read is done. */
#define STOP_NS		50000000ULL

static bool is_known(const struct threads *threads, pid_t tid)
{
	size_t i;

	for (i = 0; i < threads->nr; i++)
		if (threads->tids[i] == tid)
			return true;
	return false;
}

static void add_thread(struct threads *threads, pid_t tid)
{
	check_alloc(grow_array(&threads->tids, &threads->max, threads->nr,
			       sizeof(*threads->tids)) ? threads->tids : NULL);
	threads->tids[threads->nr++] = tid;
}

static int seize(struct threads *threads, pid_t tid)
{
	int error;

	if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD)) {
		error = errno;
		return error == ESRCH || trace_is_none(tid) ? 0 : -error;
	}
	if (!threads->since)
		threads->since = trace_clock_ns();
	add_thread(threads, tid);
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	return 0;
}

static int seize_new(struct threads *threads, const char *dir)
{
	DIR *tasks = opendir(dir);
	struct dirent *entry;
	int ret = 0;
	pid_t tid;

	if (!tasks)
		return -ESRCH;
	while (!ret && (entry = readdir(tasks))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		tid = atoi(entry->d_name);
		if (!is_known(threads, tid))
			ret = seize(threads, tid);
	}
	closedir(tasks);
	return ret;
}

static int settle_one(pid_t tid, uint64_t deadline)
{
	int ret = trace_settle(tid, deadline);

	if (ret != -ETIMEDOUT || trace_is_blocked(tid))
		return ret;
	return trace_settle(tid, trace_clock_ns() + TRACE_RUN_NS);
}

/*
 * Waits for the threads from @first on, and drops those that have exited. A
 * process that dies loses its first thread last, so wait for that last.
 */
static int settle_threads(struct threads *threads, size_t first,
			  uint64_t deadline)
{
	size_t i, nr = first;
	int ret = 0, now;

	for (i = threads->nr; i-- > first; ) {
		now = settle_one(threads->tids[i], deadline);
		if (now == -ESRCH)
			threads->tids[i] = 0;
		else if (now)
			ret = now;
	}
	for (i = first; i < threads->nr; i++)
		if (threads->tids[i])
			threads->tids[nr++] = threads->tids[i];
	threads->nr = nr;
	return ret;
}

/* Repeats until no thread is new: stopped threads create none. */
int threads_stop(struct threads *threads, pid_t pid)
{
	uint64_t deadline = trace_clock_ns() + STOP_NS;
	char dir[64];
	size_t before;
	int ret;

	*threads = (struct threads) { .pid = pid };
	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	do {
		before = threads->nr;
		ret = seize_new(threads, dir);
		if (threads->nr == before)
			break;
		if (!ret)
			ret = settle_threads(threads, before, deadline);
	} while (!ret);
	return ret || threads->nr ? ret : -ESRCH;
}

/*
 * Threads of a killed process stay zombies until the tracer waits for them; the
 * first one until all others are gone.
 */
static void release_thread(pid_t tid, uint64_t deadline)
{
	struct trace_report report;

	if (ptrace(PTRACE_DETACH, tid, 0, 0) &&
	    !trace_wait(tid, deadline, &report))
		ptrace(PTRACE_DETACH, tid, 0, 0);
}

void threads_release(struct threads *threads)
{
	uint64_t deadline = trace_clock_ns() + STOP_NS;

	while (threads->nr)
		release_thread(threads->tids[--threads->nr], deadline);
	free(threads->tids);
	threads->tids = NULL;
}
