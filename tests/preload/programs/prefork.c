// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * prefork MILLISECONDS: a server that forks its workers before they work; then
 * all of them, parent too, sort for that long of their own CPU time. Three
 * functions without frame pointers and one of libc are on every stack.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sort.h"

#define WORKERS		3

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

NOINLINE static void work(long ms)
{
	while (cpu_ms() < ms)
		sort_once();
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 1000;
	int i;

	for (i = 0; i < WORKERS; i++) {
		if (fork() == 0) {
			work(ms);
			_exit(0);
		}
	}
	work(ms);
	while (wait(NULL) > 0)
		;
	return 0;
}
