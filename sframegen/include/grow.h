/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Arrays that grow. Internal: `make install' does not install this header.
 */
#ifndef SFJIT_GROW_H
#define SFJIT_GROW_H

#include <stdbool.h>
#include <stdlib.h>

/*
 * Makes room for one more than @nr items of @size bytes. @array points to the
 * pointer, which may change; @max counts the items that fit. Returns false, with
 * nothing changed, if there is no memory. Not by reallocarray(): the module of
 * sfjit run has its own realloc().
 */
static inline bool grow_array(void *array, size_t *max, size_t nr, size_t size)
{
	size_t want = *max ? *max : 8;
	void *new;

	if (nr < *max)
		return true;
	do
		want *= 2;
	while (want <= nr);
	new = realloc(*(void **)array, want * size);
	if (!new)
		return false;
	*(void **)array = new;
	*max = want;
	return true;
}

#endif /* SFJIT_GROW_H */
