/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * One window of identical trampolines.
 */
#ifndef SFJIT_WINDOW_H
#define SFJIT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

#define SFJIT_WINDOW_SLOTS	(SFJIT_WINDOW_SIZE / SFJIT_SLOT_SIZE)

/*
 * One mapping: code, data (if the kind has any), table. @error is the result of
 * its registration, or -EOPNOTSUPP if there can be no table.
 */
struct sfjit_window {
	unsigned char	*code;
	unsigned char	*table;
	size_t		length;
	int		error;
};

/* Returns 0, -EINVAL, or -EOPNOTSUPP for a kind that this machine lacks. */
int sfjit_kind_check(unsigned int kind);

/* Whether slots of a kind have a target of their own. */
bool sfjit_kind_has_data(unsigned int kind);

/* The rows of a slot of this kind. */
struct sfjit_function;
void sfjit_kind_function(unsigned int kind, const void *slot,
			 struct sfjit_function *function);

/*
 * Maps, fills, protects, registers. Succeeds even if the registration fails.
 * Returns 0 or -errno, with everything undone.
 */
int sfjit_window_create(struct sfjit_window *window, unsigned int kind);

/* Unregisters and unmaps. Returns 0 or -errno of munmap(). */
int sfjit_window_retire(struct sfjit_window *window);

/* Sets the target of a slot; only for kinds that have data. */
void sfjit_window_set_target(struct sfjit_window *window, unsigned int slot,
			     const void *target);

#endif /* SFJIT_WINDOW_H */
