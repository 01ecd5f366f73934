// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Lists that get longer. */
#include <stdlib.h>

#include "grow.h"

#define LEAST	16

void *grow(void *list, size_t nr, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : LEAST;
	void *grown;

	if (nr < *room)
		return list;
	grown = realloc(list, more * size);
	if (grown)
		*room = more;
	return grown;
}
