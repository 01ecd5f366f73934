// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: attach PID
 *
 * Runs the functions of sfjit attach on a kernel without windows: the process
 * makes another prctl() instead of registering a window. Prints the output of
 * sfjit attach, and how many nanoseconds the process was stopped:
 *
 *	attach NS	for attaching
 *	calls NS NR	for as many system calls that do nothing
 *	stop NS		for no call at all
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <sfjit/sframe.h>

#include "commands.h"
#include "ps.h"
#include "remote.h"
#include "session.h"
#include "threads.h"
#include "trace.h"

/* /proc/PID/sframe of a process on a patched kernel. */
static char no_windows[] = "windows 0\nlast none 0\n";

static unsigned int calls;

__typeof__(remote_call) __real_remote_call, __wrap_remote_call;
__typeof__(ps_open_sframe) __wrap_ps_open_sframe;
__typeof__(session_attach) __real_session_attach, __wrap_session_attach;

long __wrap_remote_call(struct remote *remote, long nr, const uint64_t args[6])
{
	const uint64_t nothing[6] = { PR_GET_DUMPABLE };
	bool window = nr == SYS_prctl && args[0] == PR_SFRAME_REGISTER;
	long ret;

	calls++;
	ret = __real_remote_call(remote, nr, window ? nothing : args);
	return window && ret >= 0 ? 0 : ret;
}

FILE *__wrap_ps_open_sframe(const char *dir)
{
	return fmemopen(no_windows, strlen(no_windows), "r");
}

/* Nanoseconds for @nr calls. */
static uint64_t measure_calls(const struct plan *plan, unsigned int nr)
{
	const uint64_t nothing[6] = { PR_GET_DUMPABLE };
	struct threads threads;
	struct remote remote;
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	if (threads_stop(&threads, plan->pid) ||
	    remote_begin(&remote, threads.tids[0], plan->code))
		errx(1, "%d cannot be stopped", plan->pid);
	while (nr--)
		if (__real_remote_call(&remote, SYS_prctl, nothing) < 0)
			errx(1, "%d makes no calls", plan->pid);
	if (remote_end(&remote))
		errx(1, "%d does not go on", plan->pid);
	threads_release(&threads);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return trace_clock_ns() - threads.since;
}

int __wrap_session_attach(const struct plan *plan, struct outcome *outcome)
{
	int ret = __real_session_attach(plan, outcome);
	struct outcome detached;
	unsigned int nr = calls;

	if (ret)
		return ret;
	if (session_detach(plan->pid, &detached))
		errx(1, "%d is attached to", plan->pid);
	printf("attach %ju\n", (uintmax_t)outcome->stopped_ns);
	printf("calls %ju %u\n", (uintmax_t)measure_calls(plan, nr), nr);
	printf("stop %ju\n", (uintmax_t)measure_calls(plan, 0));
	return 0;
}

int main(int argc, char **argv)
{
	return command_attach(argc, argv);
}
