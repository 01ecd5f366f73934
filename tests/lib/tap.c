// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

/* Of the test and its children. */
static struct {
	unsigned int cases, failed;
} *all;
/* Of this process. */
static bool failed;
/* The process that must call finish(). */
static pid_t test;

__attribute__((constructor)) static void begin(void)
{
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		abort();
	test = getpid();
}

/* exit() can no longer change the status here. */
__attribute__((destructor)) static void end(void)
{
	if (getpid() != test)
		return;
	result(false, program_invocation_short_name,
	       "ended before its last case");
	_exit(1);
}

/* In TAP, `#' and newlines are syntax. */
static void print_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '#' || *text == '\\')
			putchar('\\');
		putchar(*text == '\n' ? ' ' : *text);
	}
}

static void print_case(bool good, const char *name)
{
	unsigned int nr = __atomic_add_fetch(&all->cases, 1, __ATOMIC_SEQ_CST);

	printf("%s %u - ", good ? "ok" : "not ok", nr);
	print_text(name);
}

static void print_why(const char *why)
{
	printf("\n# ");
	for (; *why; why++) {
		putchar(*why);
		if (*why == '\n')
			printf("# ");
	}
}

bool result(bool good, const char *name, const char *why, ...)
{
	static char text[1024];
	va_list args;

	print_case(good, name);
	if (!good) {
		failed = true;
		__atomic_add_fetch(&all->failed, 1, __ATOMIC_SEQ_CST);
		va_start(args, why);
		vsnprintf(text, sizeof(text), why, args);
		va_end(args);
		print_why(text);
	}
	putchar('\n');
	fflush(stdout);
	return good;
}

void skip(const char *name, const char *why)
{
	print_case(true, name);
	printf(" # SKIP ");
	print_text(why);
	putchar('\n');
	fflush(stdout);
}

int finish(void)
{
	if (getpid() != test)
		return failed;
	if (!all->cases)
		result(false, program_invocation_short_name, "no case");
	printf("1..%u\n", all->cases);
	fflush(stdout);
	test = 0;
	return all->failed != 0;
}

int skip_all(const char *name, const char *why)
{
	if (all->cases) {
		skip(name, why);
		return finish();
	}
	printf("1..0 # SKIP ");
	print_text(why);
	putchar('\n');
	fflush(stdout);
	test = 0;
	return 0;
}

void not_the_test(void)
{
	test = 0;
	failed = false;
}

void give_up(void)
{
	test = 0;
	exit(1);
}
