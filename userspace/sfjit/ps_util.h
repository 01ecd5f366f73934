/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What several parts of sfjit ps need. Nothing here needs any of them.
 */
#ifndef SFJIT_RUN_PS_UTIL_H
#define SFJIT_RUN_PS_UTIL_H

#include <stddef.h>
#include <stdio.h>

#define PS_MOST_NAMES	(64UL << 20)	/* bytes of a process's names */

/* A copy of a name; NULL if there are PS_MOST_NAMES bytes of them. */
char *ps_keep_name(const char *name, size_t *bytes);

/* A file of the directory of a process, to be read; NULL with errno. */
FILE *ps_open(const char *dir, const char *name);

/* The windows of a process; also with the module for Debian's kernels. */
FILE *ps_open_sframe(const char *dir);

#endif /* SFJIT_RUN_PS_UTIL_H */
