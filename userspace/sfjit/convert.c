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
#include "path.h"
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

static void say_ends(const struct sfjit_stacks_counts *stats)
{
	const char *before = "sfjit: other stacks end:";
	int i;

	if (stats->ends[SFJIT_STACKS_OUTERMOST] == stats->samples)
		return;
	for (i = 0; i < SFJIT_STACKS_NR_ENDS; i++) {
		if (!stats->ends[i] || i == SFJIT_STACKS_OUTERMOST)
			continue;
		fprintf(stderr, "%s %llu %s", before,
			(unsigned long long)stats->ends[i],
			sfjit_stacks_end_text(i));
		before = ",";
	}
	fputs("\n", stderr);
}

/* Those without registers and stacks. */
static void say_others(const struct perfdata_result *result)
{
	const struct sfjit_stacks_counts *stacks = &result->stacks;

	if (result->samples && !result->converted)
		fputs("sfjit: no sample has a copy of the stack: record with "
		      "--call-graph=dwarf\n", stderr);
	else if (stacks->samples < result->samples)
		fprintf(stderr, "sfjit: %llu samples have no stack of user "
			"space\n", (unsigned long long)(result->samples -
							stacks->samples));
}

static void say_result(const struct perfdata_result *result)
{
	const struct sfjit_stacks_counts *stacks = &result->stacks;
	uint64_t complete = stacks->ends[SFJIT_STACKS_OUTERMOST];

	say_others(result);
	say_ends(stacks);
	if (result->hasty)
		fprintf(stderr, "sfjit: %llu samples in generated code could "
			"not wait for its description: more than %u MiB did\n",
			(unsigned long long)result->hasty,
			PERFDATA_WAITING_MOST >> 20);
	if (result->lost)
		fprintf(stderr, "sfjit: %llu samples were lost: perf had no "
			"room for them; record with a lower -F, or larger "
			"buffers, -m 16M\n", (unsigned long long)result->lost);
	fprintf(stderr, "sfjit: %llu samples, %llu complete (%.2f %%), %llu "
		"lost; %.1f MiB read, %.1f MiB written\n",
		(unsigned long long)result->samples,
		(unsigned long long)complete,
		stacks->samples ? 100.0 * complete / stacks->samples : 0,
		(unsigned long long)result->lost,
		result->read / 1048576.0, result->written / 1048576.0);
}

/* ---- Input ------------------------------------------------------------ */

int convert_open(const char *name)
{
	struct stat st;

	if (!is_standard(name))
		return open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	/* The writer ends at the same ^C, and then this does. */
	if (!fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode))
		signal(SIGINT, SIG_IGN);
	return STDIN_FILENO;
}

const char *convert_copies(char path[PATH_MAX])
{
	const char *home = getenv("HOME");

	return home && snprintf(path, PATH_MAX, "%s/.debug", home) < PATH_MAX ?
	       path : NULL;
}

void convert_begin(struct convert_input *input, int fd, bool quiet)
{
	input->options = (struct perfdata_options){
		.in = fd, .out = -1, .say = say,
		.copies = convert_copies(input->copies),
	};
	if (!quiet && isatty(STDERR_FILENO))
		input->options.progress = say_progress;
}

void convert_end(const struct convert_input *input)
{
	if (input->options.progress)
		fprintf(stderr, "\r%24s\r", "");
}

/* ---- Ends ------------------------------------------------------------- */

bool convert_ends_name(const char *recording, char path[PATH_MAX])
{
	char target[PATH_MAX];

	return !path_resolve(recording, target) &&
	       snprintf(path, PATH_MAX, "%s.ends", target) < PATH_MAX;
}

/* It is a file that sfjit record has written, of whatever recording. */
static bool has_ends(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct timespec never = { .tv_sec = -1 };
	struct perfdata_ends ends;
	bool has = false;
	struct stat st;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		has = perfdata_ends_read(&ends, 0, &never, file) == -ESTALE;
	fclose(file);
	return has;
}

static void move_ends(const struct target *out)
{
	char ends[PATH_MAX], old[PATH_MAX];

	if (!out->kept || !convert_ends_name(out->path, ends) ||
	    !convert_ends_name(out->old, old))
		return;
	if (has_ends(old))
		unlink(old);
	if (has_ends(ends) && faccessat(AT_FDCWD, old, F_OK,
					AT_SYMLINK_NOFOLLOW))
		rename(ends, old);
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
	if (!fclose(file) && !ret)
		return 0;
	ret = errno;
	unlink(path);
	errno = ret;
	return -1;
}

/* A recording is of use without. */
static void save_ends(const struct perfdata_ends *ends,
		      const struct target *out)
{
	char path[PATH_MAX];
	struct stat st;

	if (out->number >= 0 || !convert_ends_name(out->path, path) ||
	    stat(out->path, &st) || !S_ISREG(st.st_mode))
		return;
	if (has_ends(path))
		unlink(path);
	if (!ends->chains && write_ends(ends, path, &st))
		convert_complain(path, errno == EEXIST ?
			"is not a file that sfjit record wrote, and stays" :
			strerror(errno));
}

/* ---- Output ----------------------------------------------------------- */

int convert_output(struct target *out, const char *name, bool recorded)
{
	const char *why = target_open(out, name, recorded);

	return why ? convert_complain(out->name, why) : 0;
}

/* @ends: of what perf is recording. */
static int run(const char *input, struct convert_input *converted,
	       struct target *out, bool quiet,
	       struct perfdata_result *result, struct perfdata_ends *ends)
{
	struct trouble trouble;
	int ret;

	converted->options.out = out->fd;
	converted->options.raw = converted->options.live = ends != NULL;
	ret = perfdata_inject(&converted->options, result, ends, &trouble);
	convert_end(converted);
	if (ret && (result->raw || !result->error))
		convert_complain(input, trouble.text);
	if (ret && result->error)
		convert_complain(out->name, strerror(result->error));
	if (ret)
		return 1;
	if (!quiet)
		say_result(result);
	return 0;
}

static int finish(struct target *out)
{
	const char *why = target_finish(out);

	if (!why)
		return 0;
	convert_complain(out->name, why);
	if (*out->temporary)
		fprintf(stderr, "sfjit: the recording is in %s\n",
			out->temporary);
	return 1;
}

static const char *advice(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG ?
	       "; free some space, or choose another file by -o" : "";
}

/* The part that could be written is a recording, too. */
static void keep_part(struct target *out, const struct perfdata_result *result)
{
	const char *next = advice(result->error);

	if (!*out->temporary) {
		target_drop(out);
	} else if (!result->kept || !(result->raw || result->samples)) {
		target_drop(out);
		fprintf(stderr, "sfjit: %s was not changed%s\n", out->name,
			next);
	} else if (!finish(out)) {
		move_ends(out);
		fprintf(stderr, "sfjit: %s has what %s%s\n", out->name,
			result->raw ? "perf recorded, as it is: perf report "
			"reads it" : "was recorded before that", next);
	}
}

static bool is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

int convert(const char *input, int in, struct target *out, bool quiet,
	    const char *root)
{
	struct convert_input converted;
	struct perfdata_result result;

	convert_begin(&converted, in, quiet);
	converted.options.root = root;
	if (!run(input, &converted, out, quiet, &result, NULL))
		return finish(out);
	if (*out->temporary && result.kept && result.samples && !is_file(in)) {
		close(out->fd);
		fprintf(stderr, "sfjit: %s was not changed; what was read "
			"before that is in %s\n", out->name, out->temporary);
		return 1;
	}
	if (*out->temporary && result.error)
		fprintf(stderr, "sfjit: %s was not changed%s\n", out->name,
			advice(result.error));
	target_drop(out);
	return 1;
}

int convert_recorded(const char *input, int in, struct target *out, bool quiet,
		     const struct perfdata_files *files, bool *kernel)
{
	struct convert_input converted;
	struct perfdata_result result;
	struct perfdata_ends ends;
	int ret;

	convert_begin(&converted, in, quiet);
	converted.options.files = files;
	ret = run(input, &converted, out, quiet, &result, &ends);
	if (ret) {
		keep_part(out, &result);
		return ret;
	}
	*kernel = result.kernel;
	ret = finish(out);
	if (!ret) {
		move_ends(out);
		save_ends(&ends, out);
	}
	perfdata_ends_free(&ends);
	return ret;
}
