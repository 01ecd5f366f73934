// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The sframegen command. */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>

#include "commands.h"

#define EXIT_USAGE	2

static const char usage[] =
"usage: sframegen --elf FILE [--at VADDR] [--max-rows N] [--format NAME]\n"
"                 [--cfi-only] [--trial-abi] -o OUT\n"
"       sframegen --template OBJ [--trial-abi] -o OUT.h\n"
"       sframegen --dump FILE [--at VADDR]\n"
"       sframegen --verify OBJ [--format NAME]\n"
"       sframegen --help | --version\n"
"\n"
"  --elf FILE      SFrame V3 section for the call frame information of a\n"
"                  program, library or object file; says what it covers\n"
"  --cfi-only      no rows from instructions for x86-64 code without CFI\n"
"  --template OBJ  C header: code, packed table, SFrame and .eh_frame of each\n"
"                  function of an object file as templates of a window of equal\n"
"                  slots\n"
"  --dump FILE     the .sframe section of an ELF file, or a raw section or\n"
"                  packed table\n"
"  --verify OBJ    compares the assembler's .sframe with rows derived from\n"
"                  the object's CFI; exit status 1 when they differ\n"
"  --at VADDR      link-time address of the section (default 0)\n"
"  --max-rows N    at most N rows per FDE, 1 to 65535 (default 16)\n"
"  --format NAME   v3 (default), or v3-addend: with rows whose CFA is a loaded\n"
"                  word and an addend, which version 3 does not have; or packed:\n"
"                  all of that as a table that needs no search (--elf)\n"
"  --trial-abi     a section also for RISC-V and 64-bit PowerPC, under a number\n"
"                  that is made up: SFrame has none\n"
"  -o, --output    where to write, - is standard output; complete or not at all\n"
"  -h, --help      this\n"
"  --version       which sfjit this belongs to\n";

/* Two macros, so that the argument of # is expanded. */
#define TEXT(token)	#token
#define NUMBER(macro)	TEXT(macro)

/* Start at 256 to differ from letters of short options. */
enum {
	OPT_ELF = 256, OPT_TEMPLATE, OPT_DUMP, OPT_VERIFY, OPT_AT, OPT_ROWS,
	OPT_FORMAT, OPT_TRIAL, OPT_CFI_ONLY, OPT_VERSION, OPT_HELP,
};

static const struct option options[] = {
	{ "elf", required_argument, NULL, OPT_ELF },
	{ "template", required_argument, NULL, OPT_TEMPLATE },
	{ "dump", required_argument, NULL, OPT_DUMP },
	{ "verify", required_argument, NULL, OPT_VERIFY },
	{ "at", required_argument, NULL, OPT_AT },
	{ "max-rows", required_argument, NULL, OPT_ROWS },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "cfi-only", no_argument, NULL, OPT_CFI_ONLY },
	{ "trial-abi", no_argument, NULL, OPT_TRIAL },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
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

struct command_line {
	struct options opts;
	const struct command *command;
	int about;		/* OPT_HELP, OPT_VERSION, or 0 */
	const char *mistake;	/* what is wrong, or NULL */
	const char *word;	/* the word with the mistake, or NULL */
};

static int fail_usage(const struct command_line *line)
{
	fprintf(stderr, "sframegen: %s", line->mistake);
	if (line->word) {
		fputs(" '", stderr);
		print_name(stderr, line->word);
		fputc('\'', stderr);
	}
	fputs("; try 'sframegen --help'\n", stderr);
	return EXIT_USAGE;
}

static void set_mistake(struct command_line *line, const char *mistake,
			const char *word)
{
	line->mistake = mistake;
	line->word = word;
}

/*
 * strtoull() skips blanks, takes a sign, and returns 2^64 - 1 for "-1", so the
 * first character must be a digit. Base 0 accepts 0x, and 0 for octal.
 */
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

static void take_rows(struct command_line *line, const char *text)
{
	uint64_t rows;

	if (parse_number(text, UINT16_MAX, &rows) && rows)
		line->opts.max_rows = rows;
	else
		set_mistake(line,
			    "--max-rows needs a number from 1 to 65535, not",
			    text);
}

static void take_format(struct command_line *line, const char *text)
{
	if (!strcmp(text, "v3"))
		line->opts.flags = 0;
	else if (!strcmp(text, "v3-addend"))
		line->opts.flags = SFG_INPUT_ADDENDS;
	else if (!strcmp(text, "packed"))
		line->opts.flags = SFG_INPUT_ADDENDS | SFG_INPUT_PACKED;
	else
		set_mistake(line, "--format needs v3, v3-addend or packed, not",
			    text);
}

static void take_command(struct command_line *line, int option)
{
	if (line->command)
		set_mistake(line, "one command at a time", NULL);
	line->command = find_command(option);
	line->opts.input = optarg;
}

/* getopt returns the letter, and for a long option only the word's position. */
static void refuse_option(struct command_line *line, const char *mistake,
			  const char *word)
{
	static char letter[] = "-?";

	letter[1] = optopt;
	set_mistake(line, mistake, optopt && optopt < OPT_ELF ? letter : word);
}

static void take_option(struct command_line *line, int option,
			const char *word)
{
	switch (option) {
	case 'h':
	case OPT_HELP:
		line->about = OPT_HELP;
		break;
	case OPT_VERSION:
		line->about = OPT_VERSION;
		break;
	case 'o':
		line->opts.output = strcmp(optarg, "-") ? optarg :
							  "/dev/stdout";
		break;
	case OPT_AT:
		if (!parse_number(optarg, UINT64_MAX, &line->opts.at))
			set_mistake(line, "--at needs an address, not", optarg);
		break;
	case OPT_ROWS:
		take_rows(line, optarg);
		break;
	case OPT_FORMAT:
		take_format(line, optarg);
		break;
	case OPT_CFI_ONLY:
		line->opts.cfi_only = true;
		break;
	case OPT_TRIAL:
		line->opts.trial_abi = true;
		break;
	case '?':
		refuse_option(line, "unknown option", word);
		break;
	case ':':
		refuse_option(line, "no argument after", word);
		break;
	default:
		take_command(line, option);
	}
}

static void check_line(struct command_line *line, char **rest)
{
	if (*rest)
		set_mistake(line, "unexpected argument", *rest);
	else if (!line->command)
		set_mistake(line, "no command", NULL);
	else if (line->command->writes && !line->opts.output)
		set_mistake(line, "-o is missing", NULL);
	else if (line->command->option == OPT_VERIFY &&
		 line->opts.flags & SFG_INPUT_PACKED)
		set_mistake(line, "--verify is for sections, not --format",
			    "packed");
}

/*
 * The leading colon makes getopt distinguish a missing argument (':') from an
 * unknown option ('?'); with opterr 0 it prints nothing. It moves non-options
 * to the end, where check_line() finds them.
 */
static void parse(struct command_line *line, int argc, char **argv)
{
	int option;

	opterr = 0;
	while (!line->mistake && !line->about) {
		option = getopt_long(argc, argv, ":o:h", options, NULL);
		if (option < 0) {
			check_line(line, argv + optind);
			return;
		}
		take_option(line, option, argv[optind - 1]);
	}
}

/*
 * A full disk or a closed pipe must not look like success. stdio buffers, so
 * most errors only show when it is flushed.
 */
static int close_stdout(void)
{
	if (!ferror(stdout) && !fclose(stdout))
		return 0;
	perror("sframegen: standard output");
	return 1;
}

static void print_about(int about)
{
	if (about == OPT_HELP)
		fputs(usage, stdout);
	else
		puts("sframegen " NUMBER(SFJIT_VERSION_MAJOR) "."
		     NUMBER(SFJIT_VERSION_MINOR));
}

/* Writing would replace the input. */
static int run_command(const struct command_line *line)
{
	const struct options *opts = &line->opts;

	if (line->command->writes &&
	    output_is_input(opts->output, opts->input)) {
		path_refused(opts->output, "is the input");
		return -EINVAL;
	}
	return line->command->run(opts);
}

int main(int argc, char **argv)
{
	struct command_line line = { 0 };
	int ret = 0;

	/*
	 * at the file size limit, let write() fail (EFBIG), as on a full disk;
	 * by default the signal kills the process without a message
	 */
	signal(SIGXFSZ, SIG_IGN);
	parse(&line, argc, argv);
	if (line.mistake)
		return fail_usage(&line);
	if (line.about)
		print_about(line.about);
	else
		ret = run_command(&line);
	return close_stdout() || ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
