// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit explain: where the stacks of a recording end, and what to do. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "convert.h"
#include "file_tables.h"
#include "library.h"
#include "printable.h"
#include "reasons.h"

static const char usage[] =
"Usage: sfjit explain [OPTION]... [-i FILE | FILE]\n"
"\n"
"Says how many stacks of a recording of perf are complete; where the others\n"
"end, by module and by reason, and what to do about it. Call chains are looked\n"
"at as they are, copies of stacks are unwound as sfjit inject does.\n"
"\n"
"FILE is perf.data if not given; - is standard input, for what\n"
"perf record -o - writes.\n"
"\n"
"  -i, --input=FILE\n"
"                  the recording\n"
"  -j, --json      for programs\n"
"  -r, --reasons=FILE\n"
"                  with what sfjit run --reasons=FILE has written\n"
"  -q, --quiet     no progress on a terminal\n"
"  -h, --help      print this\n";

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "json", no_argument, NULL, 'j' },
	{ "reasons", required_argument, NULL, 'r' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ },
};

/* A terminal's worth; --json has all. */
#define ROWS_MOST	40

/* Ends of stacks in words. */

#define BIT(n)		(1u << (n))
#define ANYWHERE	(BIT(PERFDATA_NR_PLACES) - 1)
#define GENERATED	(BIT(PERFDATA_CODE) | BIT(PERFDATA_MEMORY))

/* Of what was recorded */
#define COPY		BIT(0)
#define CHAIN		BIT(1)
#define LAUNCHED	BIT(2)
#define BESIDE_DAEMON	BIT(3)
#define ANY		(COPY | CHAIN | LAUNCHED | BESIDE_DAEMON)

/* The first that fits. */
static const struct {
	unsigned int why, recorded, places;
	const char *text;
} remedies[] = {
	{ SFJIT_STACKS_TRUNCATED, ANY, ANYWHERE,
	  "record with --stack=32768 or, at most, 65528; perf's own is "
	  "--call-graph=dwarf,32768" },
	{ SFJIT_STACKS_NO_MAPPING, COPY, ANYWHERE,
	  "record the program from its start; if perf lost events, with "
	  "-m 16M" },
	{ SFJIT_STACKS_NO_MAPPING, ANY, ANYWHERE,
	  "the walk followed a bogus frame pointer: use sfjit record or sfjit "
	  "run" },
	{ SFJIT_STACKS_NO_FILE, ANY, ANYWHERE,
	  "explain it where it was recorded, before the file is replaced; "
	  "elsewhere, sfjit inject --symfs=DIR takes copies of the files" },
	{ SFJIT_STACKS_NO_TABLE, ANY, BIT(PERFDATA_FILE),
	  "build the file with -fasynchronous-unwind-tables" },
	{ SFJIT_STACKS_NO_TABLE, ANY, ANYWHERE,
	  "generated code: its compiler has to keep frame pointers, or to "
	  "describe it" },
	{ SFJIT_STACKS_NO_RULE, ANY, GENERATED,
	  "the compiler's description of this code has a gap" },
	{ SFJIT_STACKS_NO_RULE, ANY, ANYWHERE,
	  "assembly without .cfi directives: add them, or build without it" },
	{ SFJIT_STACKS_NO_REGISTER, ANY, ANYWHERE,
	  "record all registers: without --user-regs" },
	{ SFJIT_STACKS_NOT_SUPPORTED, ANY, ANYWHERE,
	  "none: 32-bit code, or a rule that sfjit does not know" },
	{ SFJIT_STACKS_DAMAGED, ANY, GENERATED,
	  "generated code: start its compiler so that it writes a jitdump, "
	  "perf with -k mono" },
	{ SFJIT_STACKS_DAMAGED, ANY, ANYWHERE,
	  "none: the stack was changed, or the call frame information is "
	  "wrong" },
	{ SFJIT_STACKS_LIMIT, COPY, ANYWHERE,
	  "none: more than 1,024 frames, or very long call frame "
	  "information" },
	{ SFJIT_STACKS_LIMIT, ANY, ANYWHERE,
	  "sysctl kernel.perf_event_max_stack=1024" },
	{ SFJIT_STACKS_OTHER_STACK, ANY, ANYWHERE,
	  "none: the kernel copies the stack of the stack pointer alone; sfjit "
	  "run follows it on a kernel with windows" },
	{ SFJIT_STACKS_STOPPED, LAUNCHED, ANYWHERE,
	  "sfjit doctor shows whether the kernel has windows, sfjit run "
	  "--reasons why walks end" },
	{ SFJIT_STACKS_STOPPED, BESIDE_DAEMON, BIT(PERFDATA_FILE),
	  "record again if sfjit ps --files shows a table of the file; if "
	  "not, sfjit daemon --verbose says why" },
	{ SFJIT_STACKS_STOPPED, ANY, ANYWHERE,
	  "sfjit record on any kernel; sfjit run or sfjit daemon on one with "
	  "windows" },
	{ PERFDATA_NOT_DEFERRED, ANY, ANYWHERE,
	  "none: the thread did not return to user space, or perf lost the "
	  "event" },
};

static void note_daemon(void *arg, const char *dir, int fd)
{
	bool *is_there = arg;

	(void)dir;
	(void)fd;
	*is_there = true;
}

/* One that holds tables of files now, and may have done so at the recording. */
static bool daemon_is_there(void)
{
	static bool looked, is_there;

	if (!looked)
		file_tables_find("/proc", note_daemon, &is_there);
	looked = true;
	return is_there;
}

static unsigned int recorded(const struct perfdata_end *end)
{
	if (!end->chain)
		return COPY;
	if (end->launched)
		return LAUNCHED;
	return daemon_is_there() ? BESIDE_DAEMON : CHAIN;
}

/* The fix, in one line. */
static const char *explain_remedy(const struct perfdata_end *end)
{
	size_t i;

	for (i = 0; i < sizeof(remedies) / sizeof(*remedies); i++)
		if (remedies[i].why == end->why &&
		    remedies[i].recorded & recorded(end) &&
		    remedies[i].places & BIT(end->place))
			return remedies[i].text;
	return "none";
}

/* Why a stack ends there. */
static const char *explain_why(const struct perfdata_end *end)
{
	if (end->why == PERFDATA_NOT_DEFERRED)
		return "the deferred part is missing";
	if (end->why == SFJIT_STACKS_STOPPED)
		return "its call frame information was not used";
	if (end->why == SFJIT_STACKS_NO_MAPPING &&
	    end->place != PERFDATA_NOWHERE)
		return "nothing is known of its caller's address";
	return sfjit_stacks_end_text(end->why);
}

/* The kind of memory there, or the name of the file. */
static const char *explain_module(const struct perfdata_end *end)
{
	switch (end->place) {
	case PERFDATA_FILE:
		return end->module ? end->module : "[other files]";
	case PERFDATA_CODE:
		return "[jitdump]";
	case PERFDATA_MEMORY:
		return "[generated code]";
	default:
		return "[unknown]";
	}
}

static double share_of(uint64_t samples, const struct perfdata_ends *ends)
{
	uint64_t all = ends->samples - ends->without;

	return all ? 1.0 * samples / all : 0;
}

/* ---- For a terminal --------------------------------------------------- */

static void add_end_row(struct columns *columns,
			const struct perfdata_ends *ends,
			const struct perfdata_end *end)
{
	columns_add(columns, "%" PRIu64, end->samples);
	columns_add(columns, "%.2f %%", 100 * share_of(end->samples, ends));
	columns_add(columns, "%s", explain_module(end));
	columns_add(columns, "%s", explain_why(end));
}

static void print_end_rows(const struct perfdata_ends *ends, size_t nr)
{
	struct columns columns = { .columns = 4, .right = 3, .indent = "" };
	size_t i;

	columns_add(&columns, "SAMPLES");
	columns_add(&columns, "SHARE");
	columns_add(&columns, "MODULE");
	columns_add(&columns, "WHY STACKS END THERE");
	for (i = 0; i < nr; i++)
		add_end_row(&columns, ends, &ends->list[i]);
	columns_print(&columns, stdout);
}

static void print_rest(const struct perfdata_ends *ends, size_t nr)
{
	uint64_t samples = 0;
	size_t i;

	for (i = nr; i < ends->nr; i++)
		samples += ends->list[i].samples;
	if (samples)
		printf("and %zu rows more, of %" PRIu64 " samples: --json "
		       "prints them\n", ends->nr - nr, samples);
}

static bool have_same_remedy(const struct perfdata_end *a,
			     const struct perfdata_end *b)
{
	return explain_remedy(a) == explain_remedy(b) &&
	       !strcmp(explain_why(a), explain_why(b));
}

/* Each once. */
static void print_remedies(const struct perfdata_ends *ends, size_t nr)
{
	size_t i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; !have_same_remedy(&ends->list[j], &ends->list[i]);
		     j++)
			;
		if (j == i)
			printf("\n%s\n    fix: %s\n",
			       explain_why(&ends->list[i]),
			       explain_remedy(&ends->list[i]));
	}
}

static void print_followed(const struct followed *followed)
{
	struct columns columns = { .columns = 4, .right = 1, .indent = "" };
	const struct followed_reason *r = followed->reasons;

	printf("\nwhy the kernel ended walks of %u processes\n",
	       followed->processes);
	columns_add(&columns, "WALKS");
	columns_add(&columns, "REASON");
	columns_add(&columns, "LAST IN");
	columns_add(&columns, "WHICH MEANS");
	for (; r < followed->reasons + followed->nr; r++) {
		columns_add(&columns, "%" PRIu64, r->count);
		columns_add(&columns, "%s", r->name);
		columns_add(&columns, "%s", r->last ?: "-");
		columns_add(&columns, "%s", reasons_explain(r->name) ?: "-");
	}
	columns_print(&columns, stdout);
}

static void print_ends(const struct perfdata_ends *ends)
{
	size_t nr = ends->nr < ROWS_MOST ? ends->nr : ROWS_MOST;

	printf("%" PRIu64 " of %" PRIu64 " samples complete (%.2f %%)\n",
	       ends->complete, ends->samples - ends->without,
	       100 * share_of(ends->complete, ends));
	if (ends->without)
		printf("%" PRIu64 " more have no stack of user space\n",
		       ends->without);
	if (ends->lost)
		printf("%" PRIu64 " more were lost: record with a lower -F, or "
		       "larger buffers, -m 16M\n", ends->lost);
	if (ends->by_code)
		printf("%" PRIu64 " with callers that instructions tell, where "
		       "files have no rules\n", ends->by_code);
	if (ends->samples && ends->samples == ends->without)
		puts("\nfix: record with --call-graph=fp, or by sfjit "
		     "record");
	if (!nr)
		return;
	putchar('\n');
	print_end_rows(ends, nr);
	print_rest(ends, nr);
	print_remedies(ends, nr);
}

static void print_ends_text(const struct perfdata_ends *ends,
			    const struct followed *followed)
{
	print_ends(ends);
	if (followed)
		print_followed(followed);
}

/* ---- For programs ----------------------------------------------------- */

static void put_text_member(const char *name, const char *value)
{
	printf(", \"%s\": ", name);
	json_put_string(value, stdout);
}

static void put_followed(const struct followed *followed)
{
	const struct followed_reason *r = followed->reasons;

	printf(", \"kernel\": {\"processes\": %u, \"reasons\": [",
	       followed->processes);
	for (; r < followed->reasons + followed->nr; r++) {
		printf("%s{\"walks\": %" PRIu64,
		       r == followed->reasons ? "\n  " : ",\n  ", r->count);
		put_text_member("reason", r->name);
		put_text_member("last", r->last);
		putchar('}');
	}
	fputs("]}", stdout);
}

static void print_ends_json(const struct perfdata_ends *ends,
			    const struct followed *followed)
{
	const struct perfdata_end *end;
	size_t i;

	printf("{\"samples\": %" PRIu64 ", \"without\": %" PRIu64
	       ", \"complete\": %" PRIu64 ", \"lost\": %" PRIu64
	       ", \"by_code\": %" PRIu64 ", \"ends\": [", ends->samples,
	       ends->without, ends->complete, ends->lost, ends->by_code);
	for (i = 0; i < ends->nr; i++) {
		end = &ends->list[i];
		printf("%s{\"samples\": %" PRIu64 ", \"share\": %.6f",
		       i ? ",\n  " : "\n  ", end->samples,
		       share_of(end->samples, ends));
		put_text_member("module", explain_module(end));
		put_text_member("why", explain_why(end));
		put_text_member("remedy", explain_remedy(end));
		putchar('}');
	}
	putchar(']');
	if (followed)
		put_followed(followed);
	puts("}");
}

/* ---- The command ------------------------------------------------------ */

/* The ends that sfjit record saved with this recording. */
static bool read_saved(const char *name, int fd, struct perfdata_ends *ends)
{
	char path[PATH_MAX];
	struct stat st, of;
	FILE *file;
	int saved, ret = -ESTALE;

	if (is_standard(name) || fstat(fd, &of) ||
	    !convert_ends_name(name, path))
		return false;
	saved = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	file = saved < 0 ? NULL : fdopen(saved, "r");
	if (!file) {
		if (saved >= 0)
			close(saved);
		return false;
	}
	if (!fstat(saved, &st) && S_ISREG(st.st_mode))
		ret = perfdata_ends_read(ends, of.st_size, &of.st_mtim, file);
	fclose(file);
	if (ret && ret != -ESTALE)
		convert_complain(path, "not what sfjit record writes");
	return !ret;
}

static int read_ends(const char *name, int fd, bool quiet,
		     struct perfdata_ends *ends)
{
	struct convert_input input;
	struct trouble trouble;
	int ret;

	convert_begin(&input, fd, quiet);
	input.options.launcher = LIBRARY_PRELOAD_NAME;
	ret = perfdata_explain(&input.options, ends, &trouble);
	convert_end(&input);
	return ret ? convert_complain(name, trouble.text) : 0;
}

static int explain_recording(const char *name, bool json, bool quiet,
			     const struct followed *followed)
{
	struct perfdata_ends ends;
	int fd = convert_open(name), ret = 0;

	if (fd < 0)
		return convert_complain(name, strerror(errno));
	if (!read_saved(name, fd, &ends))
		ret = read_ends(name, fd, quiet, &ends);
	close(fd);
	if (ret)
		return ret;
	if (json)
		print_ends_json(&ends, followed);
	else
		print_ends_text(&ends, followed);
	perfdata_ends_free(&ends);
	return finish_output();
}

static int explain_with(const char *name, bool json, bool quiet,
			const char *reasons)
{
	struct followed followed;
	int ret;

	if (!reasons)
		return explain_recording(name, json, quiet, NULL);
	ret = reasons_read(&followed, reasons);
	ret = ret ? convert_complain(reasons, ret == -EPROTO ?
			"not what sfjit run writes" : strerror(-ret)) :
		    explain_recording(name, json, quiet, &followed);
	reasons_free(&followed);
	return ret;
}

int command_explain(int argc, char **argv)
{
	bool json = false, quiet = false;
	const char *reasons = NULL, *name = NULL;
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+i:jqr:h", long_options,
				NULL)) != -1) {
		if (c == 'h')
			return print_help(usage);
		if (c == 'i')
			name = optarg;
		else if (c == 'j')
			json = true;
		else if (c == 'q')
			quiet = true;
		else if (c == 'r')
			reasons = optarg;
		else
			break;
	}
	if (c == -1 && !name && optind < argc)
		name = argv[optind++];
	if (c == -1 && optind == argc)
		return explain_with(name ?: "perf.data", json, quiet, reasons);
	if (c == -1)
		fprintf(stderr, "sfjit explain: %s: unexpected after %s\n",
			argv[optind], name);
	fputs(usage, stderr);
	return EXIT_OURS;
}
