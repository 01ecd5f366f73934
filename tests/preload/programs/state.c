// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Writes to the file named by the first argument what a program can find out
 * about its initial state, except addresses and the variables of sfjit run.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int errno_at_start;

__attribute__((constructor)) static void start(void)
{
	errno_at_start = errno;
}

static void print_environment(FILE *out)
{
	char **e;

	for (e = environ; *e; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) && strncmp(*e, "SFJIT_", 6) &&
		    strcmp(*e, "ASAN_OPTIONS=verify_asan_link_order=0"))
			fprintf(out, "env %s\n", *e);
}

static void print_descriptors(FILE *out)
{
	int fd, flags;

	for (fd = 0; fd < 1024; fd++) {
		flags = fcntl(fd, F_GETFD);
		if (flags >= 0)
			fprintf(out, "fd %d flags %d status %x\n", fd, flags,
				fcntl(fd, F_GETFL));
	}
}

static void print_signals(FILE *out)
{
	struct sigaction act;
	sigset_t mask, pending;
	int sig;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pending);
	for (sig = 1; sig < NSIG; sig++)
		if (!sigaction(sig, NULL, &act))
			fprintf(out, "signal %d handler %p blocked %d "
				"pending %d\n", sig, (void *)act.sa_handler,
				sigismember(&mask, sig),
				sigismember(&pending, sig));
}

static void print_limits(FILE *out)
{
	struct rlimit limit;
	int i;

	for (i = 0; i < RLIM_NLIMITS; i++)
		if (!getrlimit(i, &limit))
			fprintf(out, "limit %d %lu %lu\n", i, limit.rlim_cur,
				limit.rlim_max);
}

int main(int argc, char **argv)
{
	char dir[4096];
	mode_t mask = umask(0);
	FILE *out;
	int i;

	umask(mask);
	out = fopen(argv[1], "w");
	if (!out)
		return 1;
	for (i = 0; i < argc; i++)
		fprintf(out, "argument %s\n", argv[i]);
	fprintf(out, "errno %d\numask %o\ncwd %s\n", errno_at_start, mask,
		getcwd(dir, sizeof(dir)));
	print_environment(out);
	print_descriptors(out);
	print_signals(out);
	print_limits(out);
	return fclose(out) ? 1 : 0;
}
