// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit: chooses the command. */
#include <getopt.h>
#include <sfjit.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"

#define TEXT(x)		#x
#define NUMBER(x)	TEXT(x)

static const char usage[] =
"Usage: sfjit run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
"       sfjit ps [OPTION]... [PID]...\n"
"       sfjit doctor [OPTION]...\n"
"       sfjit cache [OPTION]... [PROGRAM|LIBRARY|DIRECTORY]...\n"
"       sfjit record [OPTION]... [-- COMMAND [ARGUMENT]...]\n"
"       sfjit inject [OPTION]... -o FILE\n"
"       sfjit --help | --version\n"
"\n"
"Makes the stacks of unmodified programs walkable by the kernel.\n"
"\n"
"  run     runs COMMAND with SFrame windows for all its code; see\n"
"          sfjit run --help\n"
"  ps      prints the windows of running processes; see sfjit ps --help\n"
"  doctor  finds out what keeps stacks from being complete here\n"
"  cache   makes what sfjit run needs for programs ahead; see\n"
"          sfjit cache --help\n"
"  record  profiles with perf, on any kernel, and writes call chains in place of\n"
"          copies of stacks; see sfjit record --help\n"
"  inject  makes call chains of the stacks that perf record has copied, on any\n"
"          kernel; see sfjit inject --help\n";

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ },
};

/* Those that are not built for this machine are NULL. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", command_run },
	{ "ps", command_ps },
	{ "doctor", command_doctor },
	{ "cache", command_cache },
	{ "record", command_record },
	{ "inject", command_inject },
};

static int dispatch(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].run && !strcmp(argv[0], commands[i].name))
			return commands[i].run(argc, argv);
	if (argc)
		fprintf(stderr, "sfjit: no such command: %s\n", argv[0]);
	fputs(usage, stderr);
	return EXIT_OURS;
}

int main(int argc, char **argv)
{
	switch (getopt_long(argc, argv, "+hV", options, NULL)) {
	case 'h':
		fputs(usage, stdout);
		return fflush(stdout) ? EXIT_OURS : 0;
	case 'V':
		puts("sfjit " NUMBER(SFJIT_VERSION_MAJOR) "."
		     NUMBER(SFJIT_VERSION_MINOR));
		return fflush(stdout) ? EXIT_OURS : 0;
	case -1:
		return dispatch(argc - optind, argv + optind);
	}
	fputs(usage, stderr);
	return EXIT_OURS;
}
