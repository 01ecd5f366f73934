// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * sfjit record: perf record --call-graph=dwarf, of which the copies of stacks
 * go through a pipe and never to a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "convert.h"

static const char usage[] =
"Usage: sfjit record [OPTION]... [OPTION OF perf record]... [-- COMMAND...]\n"
"\n"
"Profiles as perf record --call-graph=dwarf does, and unwinds each sample at\n"
"once. What is written has ordinary call chains.\n"
"\n"
"  -o, --output=FILE  perf.data if not given; one that is there becomes\n"
"                     FILE.old\n"
"      --stack=BYTES  of each stack, a multiple of 8; 8192 if not given\n"
"      --quiet        print errors only\n"
"  -h, --help         print this\n";

/* perf's own limit: a record has 64 KiB. */
#define STACK_MOST	65528
#define STACK_USUAL	8192

struct recording {
	const char *output;
	unsigned long stack;
	bool quiet;
	char **options;		/* perf's; nr_options of them */
	int nr_options;
	char **command;		/* NULL: none */
	int nr_command;
};

/* ---- Arguments -------------------------------------------------------- */

/* The value of an option: behind its '=', or the next argument. */
static bool takes_value(char ***at, const char *brief, const char *full,
			const char **value)
{
	size_t length = strlen(full);
	char *arg = **at;

	if (!strncmp(arg, full, length) && arg[length] == '=') {
		*value = arg + length + 1;
		return true;
	}
	if (strcmp(arg, full) && (!brief || strcmp(arg, brief)))
		return false;
	if (!(*at)[1] || !strcmp((*at)[1], "--"))
		return false;
	*value = *++*at;
	return true;
}

static bool parse_stack(const char *text, unsigned long *stack)
{
	char *end;

	*stack = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && *stack &&
	       *stack % 8 == 0 && *stack <= STACK_MOST;
}

/* What is not ours is perf's, which says what it does not know. */
static int parse(struct recording *r, char **at)
{
	const char *stack = NULL;

	for (; *at; at++) {
		if (!strcmp(*at, "--")) {
			r->command = at + 1;
			break;
		}
		if (!strcmp(*at, "-h") || !strcmp(*at, "--help"))
			return 1;
		if (takes_value(&at, "-o", "--output", &r->output) ||
		    takes_value(&at, NULL, "--stack", &stack))
			continue;
		if (!strcmp(*at, "--quiet"))
			r->quiet = true;
		else
			r->options[r->nr_options++] = *at;
	}
	if (stack && !parse_stack(stack, &r->stack))
		return -EINVAL;
	while (r->command && r->command[r->nr_command])
		r->nr_command++;
	return 0;
}

/* ---- perf ------------------------------------------------------------- */

#define MOST_OURS	16

/*
 * perf sends the output of a command to its standard error when it writes the
 * recording to its standard output. So a shell gives the command that of sfjit,
 * which is open under another number: of one digit, as all shells know it.
 */
#define SHELL		"exec \"$@\" >&%d %d>&-"
#define OUT_MOST	9

static bool has_option(const struct recording *r, const char *brief,
		       const char *full)
{
	size_t length = strlen(full);
	int i;

	for (i = 0; i < r->nr_options; i++)
		if (!strncmp(r->options[i], brief, 2) ||
		    !strncmp(r->options[i], full, length))
			return true;
	return false;
}

static char **make_arguments(const struct recording *r, int out)
{
	static char graph[40], shell[40];
	char **args = calloc(MOST_OURS + r->nr_options + r->nr_command,
			     sizeof(*args)), **to = args;

	if (!args)
		return NULL;
	snprintf(graph, sizeof(graph), "--call-graph=dwarf,%lu", r->stack);
	snprintf(shell, sizeof(shell), SHELL, out, out);
	*to++ = "perf";
	*to++ = "record";
	*to++ = graph;
	*to++ = "-o";
	*to++ = "-";
	if (r->quiet)
		*to++ = "-q";
	/* the clock of jitdumps */
	if (!has_option(r, "-k", "--clockid")) {
		*to++ = "-k";
		*to++ = "CLOCK_MONOTONIC";
	}
	memcpy(to, r->options, r->nr_options * sizeof(*to));
	to += r->nr_options;
	if (r->nr_command) {
		*to++ = "--";
		*to++ = "sh";
		*to++ = "-c";
		*to++ = shell;
		*to++ = "sh";
		memcpy(to, r->command, r->nr_command * sizeof(*to));
	}
	return args;
}

static void run_perf(const struct recording *r, const int pipe[2])
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD, STDERR_FILENO + 1);
	char **args = make_arguments(r, out);

	if (out < 0 || out > OUT_MOST) {
		fprintf(stderr, "sfjit: no file descriptor up to %d is free\n",
			OUT_MOST);
		_exit(EXIT_OURS);
	}
	if (!args || dup2(pipe[1], STDOUT_FILENO) < 0)
		_exit(EXIT_OURS);
	close(pipe[0]);
	close(pipe[1]);
	signal(SIGINT, SIG_DFL);
	execvp("perf", args);
	fprintf(stderr, "sfjit: perf: %s\n", strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/* The end of perf: its exit status, or that of a shell for a signal. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_OURS;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

/* ---- The recording ---------------------------------------------------- */

/* As perf does it. */
static void keep_old(const char *output)
{
	char old[PATH_MAX - 8], ends[PATH_MAX], old_ends[PATH_MAX];

	if (snprintf(old, sizeof(old), "%s.old", output) >= (int)sizeof(old))
		return;
	rename(output, old);
	if (convert_ends_name(output, ends) &&
	    convert_ends_name(old, old_ends) && rename(ends, old_ends))
		unlink(old_ends);
}

/* perf has said why. */
static bool is_empty(int fd)
{
	struct pollfd event = { .fd = fd, .events = POLLIN };

	while (poll(&event, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	return !(event.revents & POLLIN);
}

static int convert_all(const struct recording *r, int fd)
{
	if (is_empty(fd))
		return EXIT_OURS;
	keep_old(r->output);
	return convert("perf record", fd, r->output, r->quiet, true);
}

static int record(const struct recording *r)
{
	int fds[2], ret = EXIT_OURS, status = EXIT_OURS;
	pid_t pid;

	if (pipe(fds)) {
		fprintf(stderr, "sfjit: pipe: %s\n", strerror(errno));
		return EXIT_OURS;
	}
	/* perf ends at ^C, and its pipe with it */
	signal(SIGINT, SIG_IGN);
	pid = fork();
	if (!pid)
		run_perf(r, fds);
	close(fds[1]);
	if (pid < 0)
		fprintf(stderr, "sfjit: fork: %s\n", strerror(errno));
	else
		ret = convert_all(r, fds[0]);
	/* a conversion that failed leaves perf with nobody who reads */
	close(fds[0]);
	if (pid > 0)
		status = wait_for(pid);
	return status ? status : ret;
}

int command_record(int argc, char **argv)
{
	struct recording r = { .output = "perf.data", .stack = STACK_USUAL };
	int ret;

	r.options = calloc(argc + 1, sizeof(*r.options));
	if (!r.options)
		return EXIT_OURS;
	ret = parse(&r, argv + 1);
	if (ret == 1) {
		ret = fputs(usage, stdout) < 0 || fflush(stdout);
	} else if (ret || (r.command && !r.nr_command) || !*r.output) {
		fputs(usage, stderr);
		ret = EXIT_OURS;
	} else {
		ret = record(&r);
	}
	free(r.options);
	return ret;
}
