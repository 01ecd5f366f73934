// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Instructions are decoded one after the other. A processor that reaches one of
 * them continues with the same ones, so the result is right for each that it
 * reaches. After data the first ones may begin at a wrong byte: it never
 * reaches these, and their result says nothing of the real ones there.
 */
#include <errno.h>
#include <stdlib.h>

#include "bare.h"

/* Passes over the code; where more are needed nothing is found. */
#define PASSES		64

/* Each step that it may lead to is one. steps[size] is none. */
static bool stays(const struct bare_step *steps, uint32_t at)
{
	const struct bare_step *s = steps + at;

	return (!s->falls || s[s->length].leaf) &&
	       (!s->jumps || steps[s->to].leaf);
}

static bool ends(const struct bare_step *steps, uint32_t at)
{
	const struct bare_step *s = steps + at;

	return (s->falls && s[s->length].ends) ||
	       (s->jumps && steps[s->to].ends);
}

/* Backwards, as most ways lead forwards; returns whether something changed. */
static bool narrow(struct bare_step *steps, uint32_t size)
{
	bool changed = false;
	uint32_t at;

	for (at = size; at-- > 0; )
		if (steps[at].leaf && !stays(steps, at)) {
			steps[at].leaf = false;
			changed = true;
		}
	return changed;
}

static bool widen(struct bare_step *steps, uint32_t size)
{
	bool changed = false;
	uint32_t at;

	for (at = size; at-- > 0; )
		if (steps[at].leaf && !steps[at].ends && ends(steps, at)) {
			steps[at].ends = true;
			changed = true;
		}
	return changed;
}

static bool settle(struct bare_step *steps, uint32_t size,
		   bool (*pass)(struct bare_step *steps, uint32_t size))
{
	unsigned int i;

	for (i = 0; i < PASSES; i++)
		if (!pass(steps, size))
			return true;
	return false;
}

static size_t list(const struct bare_step *steps, uint32_t size, bool links,
		   struct bare_range *ranges)
{
	const struct bare_step *s;
	uint32_t at;
	size_t n = 0;

	for (at = 0; at < size && steps[at].length; at += s->length) {
		s = steps + at;
		if (!s->leaf || !s->ends || (links && !s->links))
			continue;
		if (!n || ranges[n - 1].end != at ||
		    ranges[n - 1].row != s->row)
			ranges[n++] = (struct bare_range) {
				.start = at, .row = s->row,
			};
		ranges[n - 1].end = at + s->length;
	}
	return n;
}

int bare_leaves(const uint8_t *text, uint32_t size, bool links,
		struct bare_range **ranges, size_t *nr)
{
	struct bare_step *steps = calloc((size_t)size + 1, sizeof(*steps));
	/* A range has a byte at least. */
	struct bare_range *found = calloc((size_t)size + 1, sizeof(*found));

	*nr = 0;
	*ranges = found;
	if (!steps || !found) {
		free(steps);
		free(found);
		return -ENOMEM;
	}
	bare_decode(steps, text, size);
	if (settle(steps, size, narrow) && settle(steps, size, widen))
		*nr = list(steps, size, links, found);
	free(steps);
	return 0;
}
