// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "case.h"

static unsigned int nr_cases, nr_failed;
/* The process that has to finish. */
static pid_t test;

__attribute__((constructor)) static void begin(void)
{
	test = getpid();
}

/* exit() cannot change its status any more. */
__attribute__((destructor)) static void end(void)
{
	if (getpid() != test)
		return;
	result(false, program_invocation_short_name,
	       "ended before its last case");
	_exit(1);
}

bool result(bool good, const char *name, const char *why, ...)
{
	va_list args;

	nr_cases++;
	nr_failed += !good;
	printf("%s - %s", good ? "ok" : "not ok", name);
	if (!good) {
		printf(": ");
		va_start(args, why);
		vprintf(why, args);
		va_end(args);
	}
	putchar('\n');
	fflush(stdout);
	return good;
}

void skip(const char *name, const char *why)
{
	nr_cases++;
	printf("skip - %s: %s\n", name, why);
	fflush(stdout);
}

int finish(void)
{
	if (getpid() == test && !nr_cases)
		result(false, program_invocation_short_name, "no case");
	test = 0;
	return nr_failed != 0;
}

int skip_all(const char *name, const char *why)
{
	skip(name, why);
	test = 0;
	return 77;
}

void not_the_test(void)
{
	test = 0;
	nr_failed = 0;
}

void give_up(void)
{
	test = 0;
	exit(1);
}
