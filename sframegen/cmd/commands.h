/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* The commands. Each prints its own message and returns 0 or -errno. */
#ifndef SFRAMEGEN_COMMANDS_H
#define SFRAMEGEN_COMMANDS_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <sframegen.h>

struct options {
	const char *input, *output;
	uint64_t at;
	unsigned int max_rows;
	unsigned int flags;	/* SFG_INPUT_* */
	bool trial_abi;
	bool cfi_only;		/* code without CFI gets no rows */
};

int command_elf(const struct options *opts);
int command_template(const struct options *opts);
int command_dump(const struct options *opts);
/* 1: there are differences. */
int command_verify(const struct options *opts);

struct object;
void print_summary(FILE *to, const struct object *f,
		   const struct sfg_summary *sum, const struct sfg_output *out,
		   bool packed);

/* format.c: a row as text: "CFA=sp+16 FP=[CFA-16]". */
#define ROW_TEXT_MAX	160
void format_row(unsigned int abi, const struct sfjit_row *row, char *text);
/*
 * Prints at most this many bytes of a name from a file. Characters that a
 * terminal may act on become \xNN.
 */
#define NAME_TEXT_MAX	1000
void print_name(FILE *to, const char *name);
/* "sframegen: PATH: reason"; path_error() returns its code. */
void path_refused(const char *path, const char *reason);
int path_error(const char *path, int code);

/* output.c */
int write_file(const char *path, const void *data, size_t len);
/* Whether the path is a name of standard output. */
bool output_is_stdout(const char *path);
/* Whether both are one file, under any names or links. */
bool output_is_input(const char *output, const char *input);

#endif /* SFRAMEGEN_COMMANDS_H */
