/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Change packed tables while the kernel reads them.
 */
#ifndef SFJIT_GROWING_H
#define SFJIT_GROWING_H

#include "growing_memory.h"

/*
 * Publishes functions, which ascend, as one: with holes between them. @flags
 * are for all keys. Returns 0, -EINVAL, -EEXIST, -ENOSPC or -ENOTSUP, and
 * nothing has changed then. All of the code must be in the text.
 */
int sfjit_growing_publish(struct sfjit_growing *table,
			  const struct sfjit_function *functions, size_t nr,
			  uint32_t flags);

/*
 * Forgets units [lo, hi), the first one last. Returns 0, or -ENOSPC if a bucket
 * needs a block; units before that one still have their rules.
 */
int sfjit_growing_clear(struct sfjit_growing *table, uint32_t lo, uint32_t hi);

/* Forgets everything, rules too. */
void sfjit_growing_wipe(struct sfjit_growing *table);

/*
 * Copies all functions to a table that is new, and whose text contains that of
 * the other. Returns 0 or -ENOSPC.
 */
int sfjit_growing_copy(struct sfjit_growing *to,
		       const struct sfjit_growing *from);

#endif /* SFJIT_GROWING_H */
