// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert.h"
#include "printable.h"

bool is_standard(const char *name)
{
	return !strcmp(name, "-");
}

int convert_complain(const char *name, const char *why)
{
	fprintf(stderr, "sfjit: %s: ", name);
	printable_print(why, stderr);
	fputs("\n", stderr);
	return 1;
}

/* It may have names of the recording in it. */
static void say(void *arg, const char *line)
{
	fputs("sfjit: ", stderr);
	printable_print(line, stderr);
	fputs("\n", stderr);
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

/* ---- Input ------------------------------------------------------------ */

int convert_open(const char *name)
{
	struct stat st;

	if (!is_standard(name))
		return open(name, O_RDONLY | O_CLOEXEC);
	/* What writes there ends at the same ^C, and then this does. */
	if (!fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode))
		signal(SIGINT, SIG_IGN);
	return STDIN_FILENO;
}

/* Where perf record has it, if it is not told another place. */
static const char *find_copies(char path[PATH_MAX])
{
	const char *home = getenv("HOME");

	return home && snprintf(path, PATH_MAX, "%s/.debug", home) < PATH_MAX ?
	       path : NULL;
}

void convert_begin(struct convert_input *input, int fd, bool quiet)
{
	input->options = (struct perfdata_options){
		.in = fd, .out = -1, .say = say,
		.copies = find_copies(input->copies),
	};
	if (!quiet && isatty(STDERR_FILENO))
		input->options.progress = say_progress;
}

void convert_end(const struct convert_input *input)
{
	if (input->options.progress)
		fprintf(stderr, "\r%24s\r", "");
}

/* ---- Output ----------------------------------------------------------- */

static int open_output(const char *name)
{
	if (is_standard(name))
		return STDOUT_FILENO;
	/* As of perf record: it may tell what others may not know. */
	return open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static int convert_to(const char *name, int in, int out, bool quiet,
		      struct perfdata_ends *ends)
{
	struct convert_input input;
	struct perfdata_result result;
	struct trouble trouble;
	int ret;

	convert_begin(&input, in, quiet);
	input.options.out = out;
	ret = perfdata_inject(&input.options, &result, ends, &trouble);
	convert_end(&input);
	if (ret)
		return convert_complain(name, trouble.text);
	if (!quiet)
		say_result(&result);
	return 0;
}

static int finish(const char *output, int out, int ret)
{
	struct stat st;

	if (is_standard(output))
		return ret;
	/* A part of a recording is none. */
	if (ret && !fstat(out, &st) && S_ISREG(st.st_mode))
		unlink(output);
	if (close(out) && !ret)
		return convert_complain(output, strerror(errno));
	return ret;
}

/* ---- Ends ------------------------------------------------------------- */

bool convert_ends_name(const char *recording, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s.ends", recording) < PATH_MAX;
}

static int write_ends(const struct perfdata_ends *ends, const char *path,
		      const struct stat *st)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int ret;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	ret = perfdata_ends_write(ends, st->st_size, &st->st_mtim, file);
	return fclose(file) || ret ? -1 : 0;
}

/* A recording is of use without. */
static void save_ends(const struct perfdata_ends *ends, const char *output)
{
	char path[PATH_MAX];
	struct stat st;

	if (!convert_ends_name(output, path) || stat(output, &st) ||
	    !S_ISREG(st.st_mode))
		return;
	unlink(path);
	if (!ends->chains && write_ends(ends, path, &st)) {
		convert_complain(path, strerror(errno));
		unlink(path);
	}
}

int convert(const char *input, int in, const char *output, bool quiet,
	    bool save)
{
	int out = open_output(output), ret, result;
	struct perfdata_ends ends;

	if (out < 0)
		return convert_complain(output, strerror(errno));
	ret = convert_to(input, in, out, quiet, save ? &ends : NULL);
	result = finish(output, out, ret);
	if (!save || ret)
		return result;
	if (!result && !is_standard(output))
		save_ends(&ends, output);
	perfdata_ends_free(&ends);
	return result;
}
