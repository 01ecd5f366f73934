// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <fcntl.h>
#include <sfjit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "at_start.h"
#include "commands.h"
#include "follow.h"

bool at_start_possible(void)
{
	return command_attach && sfjit_available(SFJIT_QUERY_KERNEL) > 0;
}

/* False: the process has ended. */
static bool wait_for_exec(pid_t pid)
{
	int status, signal;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		if (status >> 16 == PTRACE_EVENT_EXEC)
			return !ptrace(PTRACE_DETACH, pid, 0, 0);
		/* Of a stop by an event, there is no signal to deliver. */
		signal = status >> 16 ? 0 : WSTOPSIG(status);
		if (ptrace(PTRACE_CONT, pid, 0, signal))
			return false;
	}
	return false;
}

static void run_at_start(pid_t pid, void *messages)
{
	char number[16], *argv[] = { "attach", number, NULL };

	snprintf(number, sizeof(number), "%d", pid);
	dup2(*(int *)messages, STDERR_FILENO);
	close(*(int *)messages);
	if (wait_for_exec(pid))
		command_attach(2, argv);
}

/* -1: messages are not wanted. */
static int open_messages(void)
{
	const char *log = getenv("SFJIT_LOG"), *verbose = getenv("SFJIT_VERBOSE");

	if (log && *log == '/')
		return open(log, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK |
			    O_NOCTTY | O_CLOEXEC, 0600);
	if (verbose && *verbose && strcmp(verbose, "0"))
		return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	return -1;
}

int at_start_attach(void)
{
	int messages = open_messages(), ret;
	const struct tracer tracer = {
		.options = PTRACE_O_TRACEEXEC,
		.run = run_at_start, .argument = &messages,
	};

	ret = tracer_start(&tracer);
	if (messages >= 0)
		close(messages);
	return ret;
}
