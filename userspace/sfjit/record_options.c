// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The command is the first word that is no option and no option's value. So
 * the options of perf that have a value have to be known; Linux 7.3 has them in
 * tools/perf/builtin-record.c. Others may stay unknown: perf says what is wrong
 * with them.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record_options.h"
#include "util.h"

#define OURS_STACK	256
#define OURS_QUIET	257
#define PERFS		258
#define REFUSED		259
#define BUILD_IDS_OF_ALL	260

#define TAKES(name, code)	{ name, required_argument, NULL, code }
#define MAY_TAKE(name, code)	{ name, optional_argument, NULL, code }

static const char short_options[] =
	"+:ho:e:p:t:r:C:c:F:m:G:D:u:j:k:I::S::z::gvqsdaiRTPnNBbW";

static const struct option long_options[] = {
	TAKES("output", 'o'),
	TAKES("stack", OURS_STACK),
	{ "quiet", no_argument, NULL, OURS_QUIET },
	{ "help", no_argument, NULL, 'h' },
	TAKES("clockid", 'k'),
	MAY_TAKE("compression-level", 'z'),
	MAY_TAKE("threads", REFUSED),
	MAY_TAKE("snapshot", REFUSED),
	MAY_TAKE("aux-sample", REFUSED),
	MAY_TAKE("switch-output", REFUSED),
	TAKES("switch-output-event", REFUSED),
	TAKES("affinity", PERFS),
	TAKES("branch-filter", PERFS),
	TAKES("call-graph", PERFS),
	TAKES("cgroup", PERFS),
	TAKES("clang-opt", PERFS),
	TAKES("clang-path", PERFS),
	TAKES("control", PERFS),
	TAKES("count", PERFS),
	TAKES("cpu", PERFS),
	TAKES("delay", PERFS),
	TAKES("event", PERFS),
	TAKES("filter", PERFS),
	TAKES("freq", PERFS),
	TAKES("max-size", PERFS),
	TAKES("mmap-flush", PERFS),
	TAKES("mmap-pages", 'm'),
	TAKES("num-thread-synthesize", PERFS),
	TAKES("off-cpu-thresh", PERFS),
	TAKES("pfm-events", PERFS),
	TAKES("pid", PERFS),
	TAKES("proc-map-timeout", PERFS),
	TAKES("realtime", PERFS),
	TAKES("setup-filter", PERFS),
	TAKES("switch-max-files", PERFS),
	TAKES("synth", PERFS),
	TAKES("tid", PERFS),
	TAKES("uid", PERFS),
	TAKES("vmlinux", PERFS),
	MAY_TAKE("aio", PERFS),
	MAY_TAKE("debuginfod", PERFS),
	MAY_TAKE("intr-regs", PERFS),
	MAY_TAKE("user-regs", PERFS),
	{ "all-cpus", no_argument, NULL, PERFS },
	{ "all-cgroups", no_argument, NULL, PERFS },
	{ "all-kernel", no_argument, NULL, PERFS },
	{ "all-user", no_argument, NULL, PERFS },
	{ "branch-any", no_argument, NULL, PERFS },
	{ "buildid-all", no_argument, NULL, BUILD_IDS_OF_ALL },
	{ "buildid-mmap", no_argument, NULL, 'B' },	/* has none in the header */
	{ "code-page-size", no_argument, NULL, PERFS },
	{ "data", no_argument, NULL, PERFS },
	{ "data-mmap", no_argument, NULL, PERFS },
	{ "data-page-size", no_argument, NULL, PERFS },
	{ "dry-run", no_argument, NULL, PERFS },
	{ "exclude-perf", no_argument, NULL, PERFS },
	{ "group", no_argument, NULL, PERFS },
	{ "kcore", no_argument, NULL, PERFS },
	{ "kernel-callchains", no_argument, NULL, PERFS },
	{ "latency", no_argument, NULL, PERFS },
	{ "namespaces", no_argument, NULL, PERFS },
	{ "no-buildid", no_argument, NULL, 'B' },
	{ "no-buildid-cache", no_argument, NULL, 'N' },
	{ "off-cpu", no_argument, NULL, PERFS },
	{ "overwrite", no_argument, NULL, PERFS },
	{ "per-thread", no_argument, NULL, PERFS },
	{ "period", no_argument, NULL, PERFS },
	{ "phys-data", no_argument, NULL, PERFS },
	{ "raw-samples", no_argument, NULL, PERFS },
	{ "running-time", no_argument, NULL, PERFS },
	{ "sample-cpu", no_argument, NULL, PERFS },
	{ "sample-identifier", no_argument, NULL, PERFS },
	{ "sample-mem-info", no_argument, NULL, PERFS },
	{ "stat", no_argument, NULL, PERFS },
	{ "strict-freq", no_argument, NULL, PERFS },
	{ "switch-events", no_argument, NULL, PERFS },
	{ "tail-synthesize", no_argument, NULL, PERFS },
	{ "timestamp", no_argument, NULL, PERFS },
	{ "timestamp-boundary", no_argument, NULL, PERFS },
	{ "timestamp-filename", no_argument, NULL, PERFS },
	{ "transaction", no_argument, NULL, PERFS },
	{ "user-callchains", no_argument, NULL, PERFS },
	{ "verbose", no_argument, NULL, PERFS },
	{ "weight", no_argument, NULL, PERFS },
	{ },
};

__attribute__((format(printf, 1, 2)))
static enum record_options wrong(const char *format, ...)
{
	va_list args;

	fputs("sfjit record: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("; sfjit record --help prints the options\n", stderr);
	return RECORD_WRONG;
}

/* ---- Those of perf ------------------------------------------------------ */

static void pass(struct recording *r, char *word)
{
	r->options = check_alloc(reallocarray(r->options, r->nr_options + 1,
					      sizeof(*r->options)));
	r->options[r->nr_options++] = word;
}

static void pass_text(struct recording *r, int letter, const char *rest)
{
	char *word;

	check_alloc(asprintf(&word, "-%c%s", letter, rest) < 0 ? NULL : word);
	pass(r, word);
}

static bool is_long(const char *word)
{
	return !strncmp(word, "--", 2);
}

/* It may be one letter of several in a word. */
static void pass_letter(struct recording *r, int letter)
{
	const char *takes = strchr(short_options, letter);
	bool may = takes[1] == ':' && takes[2] == ':';

	pass_text(r, letter, may && optarg ? optarg : "");
	if (takes[1] == ':' && !may)
		pass(r, optarg);
}

/* Words from @first on, up to the next option. */
static void pass_words(struct recording *r, char **argv, int first)
{
	for (; first < optind; first++)
		pass(r, argv[first]);
}

/*
 * perf rejects unknown options with its own message. getopt_long() does not
 * go on to the next word before the last letter.
 */
static void pass_unknown(struct recording *r, char **argv, int first)
{
	if (is_long(argv[first]))
		pass_words(r, argv, first);
	else
		pass_text(r, optopt, "");
}

static enum record_options pass_perfs(struct recording *r, int option,
				      char **argv, int first)
{
	r->clock |= option == 'k';
	r->buffers |= option == 'm';
	r->no_build_ids |= option == 'B';
	r->no_cache |= option == 'N';
	r->all_build_ids |= option == BUILD_IDS_OF_ALL;
	if (is_long(argv[first]))
		pass_words(r, argv, first);
	else
		pass_letter(r, option);
	return RECORD_RUN;
}

/* ---- All ---------------------------------------------------------------- */

static enum record_options parse_stack(struct recording *r)
{
	char *end;

	r->stack = strtoul(optarg, &end, 10);
	if (*optarg >= '0' && *optarg <= '9' && !*end && r->stack &&
	    r->stack % 8 == 0 && r->stack <= STACK_MOST)
		return RECORD_RUN;
	return wrong("--stack=%s: not a multiple of 8 from 8 to %d", optarg,
		     STACK_MOST);
}

static enum record_options parse_output(struct recording *r, const char *word)
{
	r->output = optarg;
	if (!strcmp(optarg, "--"))
		return wrong("%s: its value is missing", word);
	return *optarg ? RECORD_RUN : wrong("%s: its value is empty", word);
}

static enum record_options take_option(struct recording *r, int option,
				       char **argv, int first)
{
	switch (option) {
	case 'h':
		return RECORD_HELP;
	case 'o':
		return parse_output(r, argv[first]);
	case OURS_STACK:
		return parse_stack(r);
	case OURS_QUIET:
		r->quiet = true;
		return RECORD_RUN;
	case ':':
		return wrong("%s: its value is missing", argv[first]);
	case 'z':
		return wrong("%s: leave it out: perf writes to a pipe, and the "
			     "recording has no copies of stacks", argv[first]);
	case 'S':
	case REFUSED:
		return wrong("%s: sfjit cannot convert such recordings; use "
			     "perf record for them", argv[first]);
	case '?':
		pass_unknown(r, argv, first);
		return RECORD_RUN;
	default:
		return pass_perfs(r, option, argv, first);
	}
}

enum record_options record_parse(struct recording *r, int argc, char **argv)
{
	enum record_options ret = RECORD_RUN;
	int option, first;

	opterr = 0;
	optind = 1;
	do {
		first = optind;
		option = getopt_long(argc, argv, short_options, long_options,
				     NULL);
		if (option == -1)
			break;
		ret = take_option(r, option, argv, first);
	} while (ret == RECORD_RUN);
	if (ret != RECORD_RUN)
		return ret;
	r->command = argv + optind;
	r->nr_command = argc - optind;
	if (optind > first && !r->nr_command)
		return wrong("--: the command is missing");
	return RECORD_RUN;
}
