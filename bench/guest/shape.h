/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Kinds of stacks whose walk is measured, with their windows. */
#ifndef BENCH_SHAPE_H
#define BENCH_SHAPE_H

#include "stack.h"

/*
 * NAME or NAME:ARG. @enter registers windows, @build makes a stack of @depth
 * frames, @leave undoes @enter.
 */
struct shape {
	const char *name;
	void (*enter)(const char *arg);
	void (*build)(struct stack *stack, size_t depth);
	void (*leave)(void);
};

extern const struct shape shape_fp;	/* frame pointers, no window */
extern const struct shape shape_beside;	/* the same, ARG windows */
extern const struct shape shape_first;	/* each frame needs a new look-up */
extern const struct shape shape_arg;	/* slots of ARG windows */
extern const struct shape shape_rbp;	/* those that save rbp */
extern const struct shape shape_table;	/* code with table in file ARG */
extern const struct shape shape_packed;	/* and with ARG.packed in its place */
extern const struct shape shape_file;	/* and with that as the table of a file */

#endif /* BENCH_SHAPE_H */
