// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdlib.h>

#include "origin.h"
#include "table.h"

struct origin *origin_get(struct origin *origin)
{
	if (origin)
		origin->refs++;
	return origin;
}

static void free_old_table(struct table *table)
{
	if (!table)
		return;
	table_clear(table);
	free(table);
}

void origin_put(struct origin *origin)
{
	if (origin && !--origin->refs)
		origin->release(origin);
}

static void release_code(struct origin *origin)
{
	free_old_table(origin->table);
	free(origin);
}

struct origin *origin_of_code(struct table *table, bool frame_pointer)
{
	struct origin *origin = calloc(1, sizeof(*origin));

	if (!origin) {
		free_old_table(table);
		return NULL;
	}
	origin->refs = 1;
	origin->kind = ORIGIN_CODE;
	origin->release = release_code;
	origin->looked = true;
	origin->table = table;
	origin->why = SFJIT_STACKS_NO_TABLE;
	origin->frame_pointer = frame_pointer;
	return origin;
}
