// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit attach and sfjit detach. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sfjit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "kernel.h"
#include "printable.h"
#include "refusal.h"
#include "session.h"

#define TRIES	5	/* while the process loads code */

static const char attach_usage[] =
"Usage: sfjit attach [OPTION]... PID\n"
"\n"
"Registers SFrame windows for a running program and the libraries that it has\n"
"loaded. Run it again after the program has loaded more.\n"
"\n"
"  -v, --verbose   print each file that the process has mapped\n"
"  -h, --help      print this\n";

static const char detach_usage[] =
"Usage: sfjit detach PID\n"
"\n"
"Removes what sfjit attach has registered in a process or in its parent before\n"
"the fork.\n"
"\n"
"  -h, --help      print this\n";

static const struct option attach_options[] = {
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ },
};

static int bad_usage(const char *usage)
{
	fputs(usage, stderr);
	return EXIT_OURS;
}

/* Returns 0 if the text is not a process id. */
static pid_t parse_pid(const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	return *end || errno || pid < 1 || pid > INT_MAX ? 0 : pid;
}

/* 'lacks': why the kernel cannot do it, or NULL. */
static int prepare(pid_t pid, const char *lacks)
{
	int ret = refusal_check(pid);

	/* trace.c waits for this signal. */
	signal(SIGCHLD, SIG_DFL);
	if (ret || !lacks)
		return ret;
	fprintf(stderr, "sfjit: %s: use sfjit record, which needs no windows\n",
		lacks);
	return 1;
}

static void print_modules(const struct plan *plan)
{
	const struct planned *m;

	for (m = plan->modules; m < plan->modules + plan->nr; m++) {
		printable_print(m->name, stdout);
		if (m->table.nr_windows)
			printf(": %u windows, %zu bytes%s\n",
			       m->table.nr_windows, m->table.length,
			       m->table.from_cache ? ", from the cache" : "");
		else
			printf(": none: %s\n", m->reason);
	}
}

/* Without a name: any file. The vDSO, which has no path, always has windows. */
static bool has_windows(const struct plan *plan, const char *name)
{
	const struct planned *m;

	for (m = plan->modules; m < plan->modules + plan->nr; m++)
		if (m->table.nr_windows && (name ? !strcmp(m->name, name) :
					    m->name[0] == '/'))
			return true;
	return false;
}

static const char *reason_of(const struct plan *plan, const char *name)
{
	const struct planned *m;

	for (m = plan->modules; m < plan->modules + plan->nr; m++)
		if (!strcmp(m->name, name))
			return m->reason;
	return "its ELF headers are not mapped";
}

/* Fails if only the vDSO has windows. */
static int check_program(pid_t pid, const struct plan *plan)
{
	char link[64], name[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, name, sizeof(name) - 1);
	name[n > 0 ? n : 0] = '\0';
	if (n <= 0 || has_windows(plan, name))
		return 0;
	refusal_print(pid, "%s has no windows: %s. Its code needs frame "
		      "pointers", name, reason_of(plan, name));
	return !has_windows(plan, NULL);
}

static int print_result(pid_t pid, const struct plan *plan,
			const struct outcome *outcome, bool verbose)
{
	if (verbose)
		print_modules(plan);
	printf("%d: %u windows, %zu bytes of tables, stopped for %.1f ms", pid,
	       outcome->added, outcome->added ? outcome->bytes : 0,
	       outcome->stopped_ns / 1e6);
	if (outcome->others)
		printf("; %u windows existed before", outcome->others);
	putchar('\n');
	return finish_output() ?: check_program(pid, plan);
}

static int attach(pid_t pid, bool verbose)
{
	int i, ret = prepare(pid, kernel_lacks_windows());
	struct outcome outcome;
	struct plan plan;

	if (ret)
		return ret;
	for (i = 0, ret = -ESTALE; i < TRIES && ret == -ESTALE; i++) {
		ret = plan_make(&plan, pid);
		if (!ret)
			ret = session_attach(&plan, &outcome);
		else if (ret < 0)
			ret = refusal_explain(pid, ret);
		if (!ret)
			ret = print_result(pid, &plan, &outcome, verbose);
		plan_free(&plan);
	}
	return ret == -ESTALE ? refusal_print(pid, "keeps loading code: try "
						    "again later") : ret;
}

/* An older sfjit may have attached, on an older kernel. */
static int detach(pid_t pid)
{
	bool any = sfjit_available(SFJIT_QUERY_KERNEL) > 0;
	int ret = prepare(pid, any ? NULL : kernel_lacks_windows());
	struct outcome outcome;

	if (!ret)
		ret = session_detach(pid, &outcome);
	if (ret)
		return ret;
	printf("%d: removed %u windows, stopped for %.1f ms\n", pid,
	       outcome.removed, outcome.stopped_ns / 1e6);
	return finish_output();
}

int command_attach(int argc, char **argv)
{
	bool verbose = false;
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+vh", attach_options,
				NULL)) != -1) {
		if (c == 'h')
			return print_help(attach_usage);
		if (c != 'v')
			return bad_usage(attach_usage);
		verbose = true;
	}
	if (argc - optind != 1 || !parse_pid(argv[optind]))
		return bad_usage(attach_usage);
	return attach(parse_pid(argv[optind]), verbose);
}

int command_detach(int argc, char **argv)
{
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+h", attach_options + 1,
				NULL)) != -1) {
		if (c == 'h')
			return print_help(detach_usage);
		return bad_usage(detach_usage);
	}
	if (argc - optind != 1 || !parse_pid(argv[optind]))
		return bad_usage(detach_usage);
	return detach(parse_pid(argv[optind]));
}
