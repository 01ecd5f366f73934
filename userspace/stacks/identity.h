/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The one place that decides whether a file is what was mapped.
 */
#ifndef SFJIT_STACKS_IDENTITY_H
#define SFJIT_STACKS_IDENTITY_H

#include <sfjit-stacks.h>

/* See sfjit_stacks_open(). */
int identity_open(pid_t pid, const struct sfjit_stacks_mapping *mapping);

/* See sfjit_stacks_open_below(). */
int identity_open_below(const char *directory,
			const struct sfjit_stacks_mapping *mapping);

#endif /* SFJIT_STACKS_IDENTITY_H */
