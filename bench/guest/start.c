// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: start NAME RUNS COMMAND [ARGUMENT]...
 *
 * Prints "NAME NANOSECONDS": the minimum CPU time of COMMAND in RUNS runs,
 * after three that are not counted. Other programs only add to it. In a guest
 * that counts instructions these are nanoseconds. $START_RUN differs in each
 * run.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARM	3

static long long nanoseconds(const struct timeval *t)
{
	return t->tv_sec * 1000000000LL + t->tv_usec * 1000LL;
}

static long long run(char **command)
{
	pid_t pid = fork();
	struct rusage used;
	int status;

	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status) {
		fprintf(stderr, "start: %s does not run\n", command[0]);
		exit(1);
	}
	return nanoseconds(&used.ru_utime) + nanoseconds(&used.ru_stime);
}

int main(int argc, char **argv)
{
	int runs = argc > 3 ? atoi(argv[2]) : 0, i;
	long long least = LLONG_MAX, time;
	char number[16];

	if (runs < 1) {
		fprintf(stderr, "usage: start NAME RUNS COMMAND...\n");
		return 2;
	}
	for (i = -WARM; i < runs; i++) {
		snprintf(number, sizeof(number), "%d", i);
		setenv("START_RUN", number, 1);
		time = run(argv + 3);
		if (i >= 0 && time < least)
			least = time;
	}
	printf("%s %lld\n", argv[1], least);
	return 0;
}
