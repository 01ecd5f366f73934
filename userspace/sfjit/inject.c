// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit inject: call chains in place of copies of stacks, in a recording. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
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
"      --symfs=DIR    files of the recording are below DIR, as of another\n"
"                     machine\n"
"  -q, --quiet        print errors only\n"
"  -h, --help         print this\n";

static const struct option options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "symfs", required_argument, NULL, 's' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ },
};

struct names {
	const char *input, *output, *root;
	bool quiet;
};

static bool is_same_file(int in, const char *name)
{
	struct stat a, b;

	return !fstat(in, &a) && !stat(name, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static bool is_directory(const char *name)
{
	int fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- Signals ------------------------------------------------------------ */

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static volatile sig_atomic_t caught;
static const char *temporary;
static int input, nothing;

/* The input is there still: this can be done again. */
static void give_up_inject(int signal)
{
	if (*temporary)
		unlink(temporary);
	raise(signal);
}

/* Input from a pipe exists only here: stop, and keep it. */
static void end_input(int signal)
{
	caught = signal;
	dup2(nothing, input);
}

static void handle_signals(const struct target *out, int in)
{
	struct sigaction action = { .sa_handler = give_up_inject }, before;
	struct stat st;
	size_t i;

	temporary = out->temporary;
	input = in;
	action.sa_flags = SA_RESETHAND | SA_NODEFER;
	if (!fstat(in, &st) && !S_ISREG(st.st_mode)) {
		nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
		action.sa_handler = end_input;
		action.sa_flags = 0;
	}
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!sigaction(ends[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(ends[i], &action, NULL);
	/* A write that is too long fails. */
	signal(SIGXFSZ, SIG_IGN);
}

/* ---- The command -------------------------------------------------------- */

static int inject(const struct names *names)
{
	int in = convert_open(names->input), ret;
	struct target out;

	if (in < 0)
		return convert_complain(names->input, strerror(errno));
	if (names->root && !is_directory(names->root))
		return convert_complain(names->root, strerror(errno));
	if (is_standard(names->output) && isatty(STDOUT_FILENO))
		return convert_complain("standard output", "is a terminal");
	if (!is_standard(names->output) && is_same_file(in, names->output))
		return convert_complain(names->output, "is the input, too");
	if (convert_output(&out, names->output, false))
		return 1;
	handle_signals(&out, in);
	ret = convert(names->input, in, &out, names->quiet, names->root);
	return caught ? 128 + caught : ret;
}

int command_inject(int argc, char **argv)
{
	struct names names = { .input = "perf.data" };
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+i:o:qh", options, NULL)) != -1) {
		if (c == 'h')
			return print_help(usage);
		if (c == 'i')
			names.input = optarg;
		else if (c == 'o')
			names.output = optarg;
		else if (c == 's')
			names.root = optarg;
		else if (c == 'q')
			names.quiet = true;
		else
			break;
	}
	if (c == -1 && optind < argc)
		fprintf(stderr, "sfjit inject: %s: unexpected; the input is "
			"given by -i\n", argv[optind]);
	else if (c == -1 && !names.output)
		fputs("sfjit inject: -o FILE is missing\n", stderr);
	else if (c == -1)
		return inject(&names);
	fputs(usage, stderr);
	return EXIT_OURS;
}
