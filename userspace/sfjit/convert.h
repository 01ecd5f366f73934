/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What sfjit inject, sfjit record and sfjit explain do with recordings.
 */
#ifndef SFJIT_RUN_CONVERT_H
#define SFJIT_RUN_CONVERT_H

#include <limits.h>
#include <stdbool.h>

#include "perfdata.h"
#include "target.h"

/* The name of standard input and output. */
bool is_standard(const char *name);

/* "sfjit: NAME: WHY"; returns 1. */
int convert_complain(const char *name, const char *why);

/* Opens the input: a descriptor, or -1 and errno. */
int convert_open(const char *name);

/* A recording that is read, with what is said of it meanwhile. */
struct convert_input {
	struct perfdata_options options;
	char copies[PATH_MAX];
};

void convert_begin(struct convert_input *input, int fd, bool quiet);
/* Before anything else is said. */
void convert_end(const struct convert_input *input);

/* Opens the output; sfjit record keeps an old one. 0, or 1 and a message. */
int convert_output(struct target *out, const char *name, bool recorded);

/*
 * Writes what 'in' has, which is called 'input', and says how it went, unless
 * it is quiet. @root: NULL, or where the files of another machine are. 0, or 1: it
 * failed, and a file that was there is as it was.
 */
int convert(const char *input, int in, struct target *out, bool quiet,
	    const char *root);

/*
 * The same while perf is recording. If that fails, it keeps the recording so
 * far if it can; otherwise it saves where stacks end. @files: NULL, or called for
 * the files; @kernel: set if the kernel was sampled.
 */
int convert_recorded(const char *input, int in, struct target *out, bool quiet,
		     const struct perfdata_files *files, bool *kernel);

/* Where perf record has copies of files, if it is not told another place. */
const char *convert_copies(char path[PATH_MAX]);

/* Where that is saved; false: the name is too long. */
bool convert_ends_name(const char *recording, char path[PATH_MAX]);

#endif /* SFJIT_RUN_CONVERT_H */
