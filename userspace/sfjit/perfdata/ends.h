/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Ends of stacks, counted. One that is all zero is empty.
 */
#ifndef SFJIT_PERFDATA_ENDS_H
#define SFJIT_PERFDATA_ENDS_H

#include "perfdata.h"
#include "table.h"

struct ends {
	struct perfdata_end *list;
	size_t nr, max;
	struct table by_hash;	/* the place */
};

void ends_free(struct ends *ends);

/*
 * Adds the samples of one; its module stays the caller's. Its place, or -ENOMEM.
 */
int ends_add(struct ends *ends, const struct perfdata_end *end);

/* Moves those that have samples, the most first. */
void ends_take(struct ends *ends, struct perfdata_ends *result);

#endif /* SFJIT_PERFDATA_ENDS_H */
