// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * short TIMES: runs itself so many times, one after the other; each process sorts
 * once. Functions without frame pointers and one of libc are on the stack.
 */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../../preload/programs/sort.h"

extern char **environ;

NOINLINE static void work(void)
{
	sort_once();
	__asm__ volatile("" ::: "memory");
}

static int run(char *program)
{
	char *argv[] = { program, NULL };
	int status;
	pid_t pid;

	if (posix_spawn(&pid, program, NULL, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid)
		return 1;
	return status != 0;
}

int main(int argc, char **argv)
{
	long i, times = argc > 1 ? atol(argv[1]) : 0;

	if (argc == 1)
		work();
	for (i = 0; i < times; i++)
		if (run(argv[0]))
			return 1;
	return 0;
}
