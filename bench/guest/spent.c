// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: spent FILE COMMAND [ARGUMENT]...
 *
 * Runs COMMAND, writes "NANOSECONDS KIB" to FILE: its CPU time and its largest
 * resident size, both with those of the processes that it waits for. The kernel
 * also counts the size before exec(), so this program is small and static.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long nanoseconds(const struct timeval *t)
{
	return t->tv_sec * 1000000000LL + t->tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
	struct rusage used;
	FILE *file;
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: spent FILE COMMAND...\n");
		return 2;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 1;
	file = fopen(argv[1], "w");
	if (!file)
		return 1;
	fprintf(file, "%lld %ld\n", nanoseconds(&used.ru_utime) +
		nanoseconds(&used.ru_stime), used.ru_maxrss);
	if (fclose(file))
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
