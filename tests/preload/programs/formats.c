// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * LD_PRELOAD: a kernel that accepts the formats of $FORMATS, a bit mask.
 * Replaces libc's prctl() and syscall(), as the module calls the latter. With
 * BUSY=1 every key is in use. The file $UNREGISTERED gets a line for each
 * unregistered window.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <sfjit/sframe.h>

static int answer_query(unsigned long what)
{
	return what == PR_SFRAME_QUERY_FORMATS ? atoi(getenv("FORMATS")) : 0;
}

static int answer_register(void)
{
	if (!getenv("BUSY"))
		return 0;
	errno = EBUSY;
	return -1;
}

static int answer_unregister(unsigned long key)
{
	const char *name = getenv("UNREGISTERED");
	FILE *file = name ? fopen(name, "a") : NULL;

	if (file) {
		fprintf(file, "%lx\n", key);
		fclose(file);
	}
	return 0;
}

int prctl(int option, ...)
{
	unsigned long what;
	va_list args;

	va_start(args, option);
	what = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SFRAME_QUERY)
		return answer_query(what);
	if (option == PR_SFRAME_REGISTER)
		return answer_register();
	if (option == PR_SFRAME_UNREGISTER)
		return answer_unregister(what);
	errno = EINVAL;
	return -1;
}

static bool is_window_call(long option)
{
	return option == PR_SFRAME_QUERY || option == PR_SFRAME_REGISTER ||
	       option == PR_SFRAME_UNREGISTER;
}

long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long arg[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_prctl && is_window_call(arg[0]))
		return prctl(arg[0], arg[1]);
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
