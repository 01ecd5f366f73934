// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The sframegen command. */
#include <getopt.h>
#include <stdlib.h>

#include "commands.h"

#define EXIT_USAGE	2

static const char usage[] =
"usage: sframegen --elf FILE [--at VADDR] [--max-rows N] -o OUT\n"
"       sframegen --template OBJ -o OUT.h\n"
"       sframegen --dump FILE [--at VADDR]\n"
"       sframegen --verify OBJ\n"
"\n"
"  --elf FILE      SFrame V3 section for the call frame information of a\n"
"                  program, library or object file; says what it covers\n"
"  --template OBJ  C header: code, SFrame and .eh_frame of each function of\n"
"                  an object file as templates of a window of equal slots\n"
"  --dump FILE     the .sframe section of an ELF file, or a raw section\n"
"  --verify OBJ    compares the assembler's .sframe with rows derived from\n"
"                  the object's CFI; exit status 1 when they differ\n"
"  --at VADDR      link-time address of the section (default 0)\n"
"  --max-rows N    at most N rows per FDE, 1 to 65535 (default 16)\n"
"  -o, --output    where to write; complete or not at all\n"
"  -h, --help      this\n";

enum { OPT_ELF = 256, OPT_TEMPLATE, OPT_DUMP, OPT_VERIFY, OPT_AT, OPT_ROWS };

static const struct option options[] = {
	{ "elf", required_argument, NULL, OPT_ELF },
	{ "template", required_argument, NULL, OPT_TEMPLATE },
	{ "dump", required_argument, NULL, OPT_DUMP },
	{ "verify", required_argument, NULL, OPT_VERIFY },
	{ "at", required_argument, NULL, OPT_AT },
	{ "max-rows", required_argument, NULL, OPT_ROWS },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

struct command {
	int option;
	int (*run)(const struct options *opts);
	bool writes;
};

static const struct command commands[] = {
	{ OPT_ELF, command_elf, true },
	{ OPT_TEMPLATE, command_template, true },
	{ OPT_DUMP, command_dump, false },
	{ OPT_VERIFY, command_verify, false },
	{ }
};

static int fail_usage(const char *reason)
{
	fprintf(stderr, "sframegen: %s\n%s", reason, usage);
	return EXIT_USAGE;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end && *value <= max;
}

static const struct command *find_command(int option)
{
	const struct command *command = commands;

	while (command->run && command->option != option)
		command++;
	return command->run ? command : NULL;
}

static const char *take_value(struct options *opts, int option,
			      const char *text)
{
	uint64_t v;

	if (option == 'o') {
		opts->output = text;
		return NULL;
	}
	if (option == OPT_AT)
		return parse_number(text, UINT64_MAX, &opts->at) ? NULL :
		       "--at needs an address";
	if (!parse_number(text, UINT16_MAX, &v) || !v)
		return "--max-rows needs a number from 1 to 65535";
	opts->max_rows = v;
	return NULL;
}

static const char *parse(int argc, char **argv, struct options *opts,
			 const struct command **command)
{
	const char *reason;
	int option;

	while ((option = getopt_long(argc, argv, "o:h", options, NULL)) >= 0) {
		if (option == 'h' || option == '?')
			return option == 'h' ? "" : "unknown option";
		if (find_command(option)) {
			if (*command)
				return "one command at a time";
			*command = find_command(option);
			opts->input = optarg;
			continue;
		}
		reason = take_value(opts, option, optarg);
		if (reason)
			return reason;
	}
	if (optind < argc)
		return "unexpected argument";
	if (!*command)
		return "no command";
	if ((*command)->writes && !opts->output)
		return "-o is missing";
	return NULL;
}

/* A full disk or a closed pipe must not look like success. */
static int close_stdout(void)
{
	if (!ferror(stdout) && !fclose(stdout))
		return 0;
	perror("sframegen: standard output");
	return 1;
}

int main(int argc, char **argv)
{
	const struct command *command = NULL;
	struct options opts = { 0 };
	const char *reason = parse(argc, argv, &opts, &command);
	int ret;

	if (reason && !*reason) {
		fputs(usage, stdout);
		return close_stdout();
	}
	if (reason)
		return fail_usage(reason);
	ret = command->run(&opts);
	return close_stdout() || ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
