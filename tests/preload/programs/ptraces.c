// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * LD_PRELOAD for sfjit attach: replaces libc's ptrace(). Writes the number of
 * each request to the file $PTRACES, a hexadecimal number per line. Kills the
 * program before call $KILL_AT, counted from 1. With the file $SCOPE, simulates
 * Yama: the file is kernel.yama.ptrace_scope, and nothing may be traced.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#define SCOPE	"/proc/sys/kernel/yama/ptrace_scope"

static void count(int request)
{
	const char *name = getenv("PTRACES"), *last = getenv("KILL_AT");
	FILE *file = name ? fopen(name, "ae") : NULL;
	static int calls;

	if (file) {
		fprintf(file, "%x\n", request);
		fclose(file);
	}
	if (last && ++calls == atoi(last))
		kill(getpid(), SIGKILL);
}

long ptrace(enum __ptrace_request request, ...)
{
	long (*next)(enum __ptrace_request request, ...) =
		(__typeof__(next))dlsym(RTLD_NEXT, "ptrace");
	void *address, *data;
	va_list args;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	address = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	count(request);
	if (!getenv("SCOPE"))
		return next(request, pid, address, data);
	errno = EPERM;
	return -1;
}

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *path, const char *mode) =
		(__typeof__(next))dlsym(RTLD_NEXT, "fopen");
	const char *scope = getenv("SCOPE");

	return next(scope && !strcmp(path, SCOPE) ? scope : path, mode);
}
