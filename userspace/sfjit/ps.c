// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit ps: the windows of running processes. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "ps.h"

static const char usage[] =
"Usage: sfjit ps [OPTION]... [PID]...\n"
"\n"
"Prints the SFrame windows of each process, what their memory is, and why\n"
"walks through them ended. Without PID: a line for each process that has\n"
"windows, of those you may read.\n"
"\n"
"  -f, --files     the tables that daemons have given to files, instead\n"
"  -j, --json      for programs\n"
"  -h, --help      print this\n";

static const struct option long_options[] = {
	{ "files", no_argument, NULL, 'f' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ },
};

#define MAP_MS		10000
#define LATE_MAPS	6	/* after which no more are waited for */

/* The output so far. */
struct listing {
	const struct ps_options *options;
	struct ps_request request;
	struct columns summary;
	bool any;
	bool old_kernel, new_kernel;	/* processes without and with sframe */
};

static const char *why_not_read(int error)
{
	switch (error) {
	case ESRCH:
		return "no such process";
	case ENODATA:
		return "has no address space: it ended, or is the kernel's";
	case EOPNOTSUPP:
		return "this kernel has no /proc/PID/sframe";
	case EACCES:
	case EPERM:
		return "may be read only by those who may trace the process";
	case EPROTO:
		return "/proc has a format that is not known here";
	case E2BIG:
		return "has more windows, mappings or names than can be shown";
	default:
		return strerror(error);
	}
}

static int complain_of_process(const struct ps_options *options,
			       const char *pid, int error)
{
	fflush(options->out);
	fprintf(options->err, "sfjit: %s: %s\n", pid, why_not_read(error));
	return 1;
}

static void print_process(struct listing *list,
			  const struct ps_process *process, bool whole)
{
	FILE *out = list->options->out;

	if (list->options->json) {
		fputs(list->any ? ",\n" : "", out);
		ps_print_json(process, out);
	} else if (whole) {
		fputs(list->any ? "\n" : "", out);
		ps_print(process, out);
	} else {
		ps_add_summary(process, &list->summary);
	}
	list->any = true;
}

static bool parse_process(const char *text, pid_t *pid)
{
	char *end;
	long value;

	errno = 0;
	value = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
	*pid = value;
	return value > 0 && value <= INT_MAX && !*end && !errno;
}

static int show_named(struct listing *list, const char *text)
{
	struct ps_process process;
	pid_t pid;
	int ret;

	if (!parse_process(text, &pid))
		return complain_of_process(list->options, text, ESRCH);
	list->request.detail = PS_WHOLE;
	ret = ps_read(&process, &list->request, pid);
	if (!ret)
		print_process(list, &process, true);
	ps_free(&process);
	return ret ? complain_of_process(list->options, text, -ret) : 0;
}

/* Processes that end, or belong to other users, are skipped. */
static bool is_skipped(int error)
{
	return error == ESRCH || error == ENODATA || error == EACCES ||
	       error == EPERM;
}

static int show_if_any(struct listing *list, const char *name, pid_t pid)
{
	const struct ps_options *options = list->options;
	struct ps_process process;
	int ret;

	list->request.detail = options->json ? PS_IF_WINDOWS : PS_COUNTS;
	ret = ps_read(&process, &list->request, pid);
	if (!ret && process.nr_windows)
		print_process(list, &process, false);
	ps_free(&process);
	if (ret == -EOPNOTSUPP) {
		list->old_kernel = true;
		return 0;
	}
	if (ret != -ESRCH)
		list->new_kernel = true;
	if (!ret || is_skipped(-ret))
		return 0;
	return complain_of_process(options, name, -ret);
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int is_process(const struct dirent *entry)
{
	pid_t pid;

	return parse_process(entry->d_name, &pid);
}

static int end_summary(struct listing *list)
{
	const struct ps_options *options = list->options;

	/* A number that is reused meanwhile looks like a missing file, too. */
	if (list->old_kernel && !list->new_kernel)
		return complain_of_process(options, options->proc, EOPNOTSUPP);
	if (!options->json)
		ps_add_summary(NULL, &list->summary);
	columns_print(&list->summary, options->out);
	return 0;
}

static int show_all(struct listing *list)
{
	struct dirent **entries;
	int i, nr, ret = 0;
	pid_t pid;

	nr = scandir(list->options->proc, &entries, is_process, by_number);
	if (nr < 0)
		return complain_of_process(list->options, list->options->proc,
					   errno);
	for (i = 0; i < nr; i++) {
		if (parse_process(entries[i]->d_name, &pid))
			ret |= show_if_any(list, entries[i]->d_name, pid);
		free(entries[i]);
	}
	free(entries);
	return ret | end_summary(list);
}

static void complain_of_maps(const struct listing *list)
{
	if (!list->request.late)
		return;
	fflush(list->options->out);
	fputs("sfjit: names are missing: /tmp/perf-PID.map took too long\n",
	      list->options->err);
}

static int end_output(const struct ps_options *options, int ret)
{
	if (!fflush(options->out) && !ferror(options->out))
		return ret;
	complain_of_process(options, "output", errno);
	return EXIT_OURS;
}

static int list_files(const struct ps_options *options)
{
	ps_files(options);
	return end_output(options, 0);
}

int ps(const struct ps_options *options, char **pids, int nr)
{
	struct listing list = {
		.options = options,
		.request = {
			.proc = options->proc,
			.map_ms = options->map_ms,
			.all_ms = LATE_MAPS * options->map_ms,
		},
	};
	int i, ret = 0;

	if (options->json)
		fputc('[', options->out);
	if (!nr)
		ret = show_all(&list);
	for (i = 0; i < nr; i++)
		ret |= show_named(&list, pids[i]);
	if (options->json)
		fputs("]\n", options->out);
	complain_of_maps(&list);
	return end_output(options, ret);
}

static int refuse_usage(void)
{
	fputs(usage, stderr);
	return EXIT_OURS;
}

int command_ps(int argc, char **argv)
{
	struct ps_options options = {
		"/proc", false, stdout, stderr, MAP_MS
	};
	bool files = false;
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+fjh", long_options,
				NULL)) != -1) {
		if (c == 'h')
			return print_help(usage);
		if (c == '?')
			return refuse_usage();
		files |= c == 'f';
		options.json |= c == 'j';
	}
	if (files)
		return optind < argc ? refuse_usage() : list_files(&options);
	/* If it is ignored, the number of a child is free at once for reuse. */
	signal(SIGCHLD, SIG_DFL);
	return ps(&options, argv + optind, argc - optind);
}
