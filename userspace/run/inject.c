// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit inject: call chains in place of copies of stacks, in a recording. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "perfdata.h"
#include "printable.h"

static const char usage[] =
"Usage: sfjit inject [OPTION]... -o FILE\n"
"\n"
"Copies a recording of perf record --call-graph=dwarf. Its samples get\n"
"ordinary call chains in place of registers and copies of stacks.\n"
"\n"
"  -i, --input=FILE   the recording, perf.data if not given; - is standard\n"
"                     input, for what perf record -o - writes\n"
"  -o, --output=FILE  where to; - is standard output\n"
"  -q, --quiet        print errors only\n"
"  -h, --help         print this\n";

static const struct option options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ },
};

struct names {
	const char *input, *output;
	bool quiet;
};

/* ---- What is said ----------------------------------------------------- */

/* It may have names of the recording in it. */
static void say(void *arg, const char *line)
{
	fputs("sfjit: ", stderr);
	printable_print(line, stderr);
	fputs("\n", stderr);
}

static int complain(const char *name, const char *why)
{
	fprintf(stderr, "sfjit: %s: ", name);
	printable_print(why, stderr);
	fputs("\n", stderr);
	return 1;
}

static void say_progress(void *arg, uint64_t done, uint64_t size)
{
	if (size)
		fprintf(stderr, "\rsfjit: %3u %%", (unsigned int)
			(100.0 * done / size));
	else
		fprintf(stderr, "\rsfjit: %llu MiB",
			(unsigned long long)done >> 20);
}

static void clear_progress(void)
{
	fprintf(stderr, "\r%24s\r", "");
}

static void say_ends(const struct sfjit_stacks_stats *stats)
{
	const char *before = "sfjit: stacks end:";
	int i;

	for (i = 0; i < SFJIT_STACKS_NR_ENDS; i++) {
		if (!stats->ends[i])
			continue;
		fprintf(stderr, "%s %llu %s", before,
			(unsigned long long)stats->ends[i],
			sfjit_stacks_end_text(i));
		before = ",";
	}
	fputs("\n", stderr);
}

static void say_result(const struct perfdata_result *result)
{
	const struct sfjit_stacks_stats *stacks = &result->stacks;

	fprintf(stderr, "sfjit: %llu of %llu samples converted, %.1f frames "
		"each; %.1f MiB read, %.1f MiB written\n",
		(unsigned long long)result->converted,
		(unsigned long long)result->samples,
		stacks->samples ? 1.0 * stacks->frames / stacks->samples : 0,
		result->read / 1048576.0, result->written / 1048576.0);
	if (stacks->samples)
		say_ends(stacks);
}

/* ---- Files ------------------------------------------------------------ */

static bool is_standard(const char *name)
{
	return !strcmp(name, "-");
}

static int open_input(const char *name)
{
	struct stat st;

	if (!is_standard(name))
		return open(name, O_RDONLY | O_CLOEXEC);
	/* What writes there ends at the same ^C, and then this does. */
	if (!fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode))
		signal(SIGINT, SIG_IGN);
	return STDIN_FILENO;
}

static bool is_same_file(int in, const char *name)
{
	struct stat a, b;

	return !fstat(in, &a) && !stat(name, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int open_output(const char *name)
{
	if (is_standard(name))
		return STDOUT_FILENO;
	/* As of perf record: it may tell what others may not know. */
	return open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* Where perf record has it, if it is not told another place. */
static const char *find_copies(char path[PATH_MAX])
{
	const char *home = getenv("HOME");

	return home && snprintf(path, PATH_MAX, "%s/.debug", home) < PATH_MAX ?
	       path : NULL;
}

static int convert(const struct names *names, int in, int out)
{
	char copies[PATH_MAX];
	struct perfdata_options options = {
		.in = in, .out = out, .say = say,
		.copies = find_copies(copies),
	};
	struct perfdata_result result;
	struct trouble trouble;
	int ret;

	if (!names->quiet && isatty(STDERR_FILENO))
		options.progress = say_progress;
	ret = perfdata_inject(&options, &result, &trouble);
	if (options.progress)
		clear_progress();
	if (ret)
		return complain(names->input, trouble.text);
	if (!names->quiet)
		say_result(&result);
	return 0;
}

static int finish(const struct names *names, int out, int ret)
{
	struct stat st;

	if (is_standard(names->output))
		return ret;
	/* A part of a recording is none. */
	if (ret && !fstat(out, &st) && S_ISREG(st.st_mode))
		unlink(names->output);
	if (close(out) && !ret)
		return complain(names->output, strerror(errno));
	return ret;
}

static int inject(const struct names *names)
{
	int in = open_input(names->input), out, ret;

	if (in < 0)
		return complain(names->input, strerror(errno));
	if (is_standard(names->output) && isatty(STDOUT_FILENO))
		return complain("standard output", "is a terminal");
	if (!is_standard(names->output) && is_same_file(in, names->output))
		return complain(names->output, "is the input, too");
	out = open_output(names->output);
	if (out < 0)
		return complain(names->output, strerror(errno));
	ret = convert(names, in, out);
	return finish(names, out, ret);
}

int command_inject(int argc, char **argv)
{
	struct names names = { .input = "perf.data" };
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+i:o:qh", options, NULL)) != -1) {
		if (c == 'h')
			return fputs(usage, stdout) < 0 || fflush(stdout);
		if (c == 'i')
			names.input = optarg;
		else if (c == 'o')
			names.output = optarg;
		else if (c == 'q')
			names.quiet = true;
		else
			break;
	}
	if (c != -1 || optind != argc || !names.output) {
		fputs(usage, stderr);
		return EXIT_OURS;
	}
	return inject(&names);
}
