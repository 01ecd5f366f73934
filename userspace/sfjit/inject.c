// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit inject: call chains in place of copies of stacks, in a recording. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "convert.h"

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

static bool is_same_file(int in, const char *name)
{
	struct stat a, b;

	return !fstat(in, &a) && !stat(name, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int inject(const struct names *names)
{
	int in = convert_open(names->input);

	if (in < 0)
		return convert_complain(names->input, strerror(errno));
	if (is_standard(names->output) && isatty(STDOUT_FILENO))
		return convert_complain("standard output", "is a terminal");
	if (!is_standard(names->output) && is_same_file(in, names->output))
		return convert_complain(names->output, "is the input, too");
	return convert(names->input, in, names->output, names->quiet, false);
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
