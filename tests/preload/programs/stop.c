// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * LD_PRELOAD: stops a process in which the module makes a table. Replaces libc's
 * syscall(), by which the module makes its calls. $STOP_AT says where: "lock",
 * when it has the lock, or "rename", before the complete file gets its name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static void stop_once(void)
{
	raise(SIGSTOP);
	unsetenv("STOP_AT");
}

static int stops_at(const char *where)
{
	const char *wanted = getenv("STOP_AT");

	return wanted && !strcmp(wanted, where);
}

long syscall(long number, ...)
{
	long (*next)(long number, ...) =
		(long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long arg[6], ret;
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_renameat2 && stops_at("rename"))
		stop_once();
	ret = next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (number == SYS_fcntl && arg[1] == F_SETLK && !ret &&
	    stops_at("lock"))
		stop_once();
	return ret;
}
