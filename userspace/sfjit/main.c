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

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ },
};

/* Those that are not built for this machine are NULL. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments, *text;
} commands[] = {
	{ "run", command_run, "[OPTION]... [--] COMMAND [ARGUMENT]...",
	  "runs COMMAND with SFrame windows for all its code" },
	{ "attach", command_attach, "[OPTION]... PID",
	  "registers such windows in a process that runs" },
	{ "detach", command_detach, "PID", "removes them" },
	{ "ps", command_ps, "[OPTION]... [PID]...",
	  "prints the windows of running processes" },
	{ "daemon", command_daemon, "[OPTION]...",
	  "gives the kernel tables for the files of all processes" },
	{ "doctor", command_doctor, "[OPTION]...",
	  "finds out what keeps stacks from being complete here" },
	{ "cache", command_cache,
	  "[OPTION]... [PROGRAM|LIBRARY|DIRECTORY]...",
	  "makes what sfjit run needs for programs ahead" },
	{ "record", command_record, "[OPTION]... [COMMAND [ARGUMENT]...]",
	  "profiles with perf, on any kernel, and writes call chains" },
	{ "inject", command_inject, "[OPTION]... -o FILE",
	  "makes call chains of the stacks that perf record has copied" },
	{ "explain", command_explain, "[OPTION]... [FILE]",
	  "says where the stacks of a recording end, and what to do" },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *out)
{
	const char *before = "Usage:";
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++) {
		if (!commands[i].run)
			continue;
		fprintf(out, "%-6s sfjit %s %s\n", before, commands[i].name,
			commands[i].arguments);
		before = "";
	}
	fputs("       sfjit --help | --version\n\n"
	      "Makes the stacks of unmodified programs walkable by the "
	      "kernel.\n\n", out);
	for (i = 0; i < NR_COMMANDS; i++)
		if (commands[i].run)
			fprintf(out, "  %-7s  %s\n", commands[i].name,
				commands[i].text);
	fputs("\nsfjit COMMAND --help prints the options of a command.\n",
	      out);
}

/* getopt_long() begins its messages with argv[0]. */
static int run_sfjit_command(size_t i, int argc, char **argv)
{
	static char name[32];

	snprintf(name, sizeof(name), "sfjit %s", commands[i].name);
	argv[0] = name;
	return commands[i].run(argc, argv);
}

static int dispatch(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc && i < NR_COMMANDS; i++)
		if (commands[i].run && !strcmp(argv[0], commands[i].name))
			return run_sfjit_command(i, argc, argv);
	if (argc)
		fprintf(stderr, "sfjit: no such command: %s\n", argv[0]);
	print_usage(stderr);
	return EXIT_OURS;
}

int main(int argc, char **argv)
{
	switch (getopt_long(argc, argv, "+hV", options, NULL)) {
	case 'h':
		print_usage(stdout);
		return finish_output();
	case 'V':
		puts("sfjit " NUMBER(SFJIT_VERSION_MAJOR) "."
		     NUMBER(SFJIT_VERSION_MINOR));
		return finish_output();
	case -1:
		return dispatch(argc - optind, argv + optind);
	}
	print_usage(stderr);
	return EXIT_OURS;
}
