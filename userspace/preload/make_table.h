/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where the table of a module comes from.
 */
#ifndef SFJIT_PRELOAD_MAKE_TABLE_H
#define SFJIT_PRELOAD_MAKE_TABLE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "cache_dir.h"
#include "image.h"
#include "sys.h"
#include "table.h"

/* How to make a table. */
enum table_effort {
	TABLE_KEEP,		/* it is made, and kept in the cache */
	TABLE_MAKE,		/* it is made, if it is not in the cache */
	TABLE_FIND,		/* it is in the cache, or there is none */
};

/* TABLE_KEEP by default */
void table_effort(enum table_effort effort);

/*
 * From the cache or by conversion. On failure *reason is a constant string, and
 * the table has no windows.
 */
int table_make(struct table *table, struct image *image, const char **reason);

/* Its name in the cache. */
void table_name(struct text *name, const struct image *image);

/*
 * For sfjit cache, which loads this module to have tables made by it: they are
 * those that it would make in a program.
 */

/* With this variable the module does nothing else. */
#define FILL_ONLY	"SFJIT_ONLY_FILLS"
#define FILL_SYMBOL	"__sfjit_fill_cache"

struct fill {
	const char *reason;	/* a constant, if there is no table */
	size_t length;
	bool was_there, is_there;
	struct text name;	/* of the file */
};

/*
 * The table of a module that is mapped, as by ld.so, but need not run. Returns
 * 0, -ENOENT (there is nothing to make one of), or another -errno.
 */
int __sfjit_fill_cache(struct dl_phdr_info *info, enum cache cache,
		       struct fill *fill);

/* Between cache_open_only() and cache_close(). */
int table_fill(const struct dl_phdr_info *info, struct fill *fill);

/*
 * For sfjit attach: the table of a module that is mapped in another process, and
 * copied here as far as the effort needs: that of TABLE_FIND, what image_read()
 * reads of a module with a build-id. 'file' is the one that it is mapped from; -1:
 * not known. table->data is in the memory of this process.
 */
#define TABLE_SYMBOL	"__sfjit_make_table"

int __sfjit_make_table(struct dl_phdr_info *info, int file,
		       enum table_effort effort, struct table *table,
		       const char **reason);

#endif /* SFJIT_PRELOAD_MAKE_TABLE_H */
