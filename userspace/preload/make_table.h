/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where the table of a module comes from.
 */
#ifndef SFJIT_PRELOAD_MAKE_TABLE_H
#define SFJIT_PRELOAD_MAKE_TABLE_H

#include "image.h"
#include "table.h"
#include "text.h"

/* How to make a table. */
enum table_effort {
	TABLE_KEEP,		/* it is made, and kept in the cache */
	TABLE_MAKE,		/* it is made, if it is not in the cache */
	TABLE_FIND,		/* it is in the cache, or there is none */
};

/* TABLE_KEEP by default */
void table_effort(enum table_effort effort);

/* From now on rows may have addends: the kernel reads them. */
void table_addends(void);

/*
 * From the cache or by conversion. On failure *reason is a constant string, and
 * the table has no windows.
 */
int table_make(struct table *table, struct image *image, const char **reason);

/* Its name in the cache. */
void table_name(struct text *name, const struct image *image);

#endif /* SFJIT_PRELOAD_MAKE_TABLE_H */
