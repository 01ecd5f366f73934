// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Ends of stacks, counted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ends.h"
#include "grow.h"

void ends_free(struct ends *ends)
{
	size_t i;

	for (i = 0; i < ends->nr; i++)
		free((char *)ends->list[i].module);
	free(ends->list);
	table_free(&ends->by_hash);
}

static int compare_modules(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !a - !b;
}

/* The end, without its number of samples. */
static int compare(const struct perfdata_end *a, const struct perfdata_end *b)
{
	if (a->chain != b->chain)
		return a->chain - b->chain;
	if (a->why != b->why)
		return a->why < b->why ? -1 : 1;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->launched != b->launched)
		return a->launched - b->launched;
	return compare_modules(a->module, b->module);
}

static uint64_t hash(const struct perfdata_end *end)
{
	uint64_t hash = (end->why * PERFDATA_NR_PLACES + end->place) * 4 +
			end->chain * 2 + end->launched;
	const char *at;

	for (at = end->module ? end->module : ""; *at; at++)
		hash = hash * 31 + (unsigned char)*at;
	return hash;
}

/* NULL: it is not there, and would be by this key. */
static struct perfdata_end *find_end(const struct ends *ends,
				     const struct perfdata_end *end,
				     uint64_t *key)
{
	const uint64_t *place;

	for (*key = hash(end); (place = table_find(&ends->by_hash, *key));
	     ++*key)
		if (!compare(&ends->list[*place], end))
			return &ends->list[*place];
	return NULL;
}

static int append_end(struct ends *ends, const struct perfdata_end *end,
		      uint64_t key)
{
	struct perfdata_end own = *end, *list;
	uint64_t *place;

	list = grow(ends->list, ends->nr, &ends->room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	ends->list = list;
	own.module = end->module ? strdup(end->module) : NULL;
	if (end->module && !own.module)
		return -ENOMEM;
	place = table_add(&ends->by_hash, key);
	if (!place) {
		free((char *)own.module);
		return -ENOMEM;
	}
	*place = ends->nr;
	ends->list[ends->nr] = own;
	return ends->nr++;
}

int ends_add(struct ends *ends, const struct perfdata_end *end)
{
	struct perfdata_end other = *end, *known;
	uint64_t key;

	known = find_end(ends, end, &key);
	if (!known && end->module && ends->nr >= PERFDATA_ENDS_MOST) {
		other.module = NULL;
		return ends_add(ends, &other);
	}
	if (!known)
		return append_end(ends, end, key);
	known->samples += end->samples;
	return known - ends->list;
}

static int by_samples(const void *x, const void *y)
{
	const struct perfdata_end *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return compare(a, b);
}

void ends_take(struct ends *ends, struct perfdata_ends *result)
{
	size_t nr = ends->nr;

	if (nr)
		qsort(ends->list, nr, sizeof(*ends->list), by_samples);
	while (nr && !ends->list[nr - 1].samples)
		free((char *)ends->list[--nr].module);
	result->list = ends->list;
	result->nr = nr;
	table_free(&ends->by_hash);
	*ends = (struct ends){ };
}

void perfdata_ends_free(struct perfdata_ends *result)
{
	struct ends ends = { .list = result->list, .nr = result->nr };

	ends_free(&ends);
}
