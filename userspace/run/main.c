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
"  inject  makes call chains of the stacks that perf record has copied, on any\n"
"          kernel; see sfjit inject --help\n";

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ },
};

static int dispatch(int argc, char **argv)
{
	if (argc && !strcmp(argv[0], "run"))
		return command_run(argc, argv);
	if (argc && !strcmp(argv[0], "ps"))
		return command_ps(argc, argv);
	if (argc && !strcmp(argv[0], "doctor"))
		return command_doctor(argc, argv);
	if (argc && !strcmp(argv[0], "cache"))
		return command_cache(argc, argv);
	if (argc && !strcmp(argv[0], "inject") && command_inject)
		return command_inject(argc, argv);
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
