// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A kernel that reads the formats of $FORMATS, a number whose bits they are,
 * for programs that are started with this library besides: prctl() in place of
 * libc's. With BUSY=1 each key is in use. The file $UNREGISTERED gets a line
 * for each window that is to go.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

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
