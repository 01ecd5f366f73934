// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdio.h>
#include <stdlib.h>

#include "../lib/tap.h"
#include "leaves.h"

void leaves_are(const char *name, const void *text, uint32_t size,
		const char *wanted)
{
	struct bare_range *ranges;
	char found[128] = "";
	size_t nr, i, n = 0;

	MUST(!bare_leaves(text, size, false, &ranges, &nr));
	for (i = 0; i < nr && n < sizeof(found); i++) {
		n += snprintf(found + n, sizeof(found) - n, "%s%x-%x",
			      i ? " " : "", ranges[i].start, ranges[i].end);
		if (ranges[i].row)
			n += snprintf(found + n, sizeof(found) - n, ":%d",
				      ranges[i].row);
	}
	free(ranges);
	result(!strcmp(found, wanted), name, "found '%s', wanted '%s'", found,
	       wanted);
}

void false_are(const char *name, const struct sfjit_function *f,
	       const void *text, const char *wanted)
{
	struct bare_range ranges[BARE_FALSE_MAX];
	size_t i, n = 0, nr = bare_false(f, text, ranges);
	char found[64] = "";

	for (i = 0; i < nr; i++)
		n += snprintf(found + n, sizeof(found) - n, "%x-%x ",
			      ranges[i].start, ranges[i].end);
	result(!strcmp(found, wanted), name, "found '%s', wanted '%s'", found,
	       wanted);
}

bool leaves_are_sorted(const void *text, uint32_t size)
{
	struct bare_range *ranges;
	bool good = true;
	size_t nr, i;

	MUST(!bare_leaves(text, size, false, &ranges, &nr));
	for (i = 0; i < nr; i++)
		good &= ranges[i].start < ranges[i].end &&
			ranges[i].end <= size &&
			(!i || ranges[i - 1].end <= ranges[i].start);
	free(ranges);
	return good;
}
