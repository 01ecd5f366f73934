/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Converted tables on disk, one file per module:
 * ${XDG_CACHE_HOME:-$HOME/.cache}/sfjit/tables/<id>.packed. Those that root has
 * put into /var/cache/sfjit/tables come first. Where nothing can be written
 * there, as without HOME or on a full disk, they are in /tmp/sfjit-UID/tables.
 *
 * A file is a packed table for link-time addresses, which sframegen --dump reads,
 * then its windows, and a trailer that says what it was made from. Processes map
 * the file. Files are written under another name and renamed, never changed.
 * Their sum is compared once after a start of the machine, and when their time of
 * modification is not the one that was set.
 */
#ifndef SFJIT_PRELOAD_CACHE_H
#define SFJIT_PRELOAD_CACHE_H

#include <stdint.h>

#include "cache_dir.h"
#include "image.h"
#include "sys.h"
#include "table.h"

/* The others are called between these, and after cache_dir_init(). */
void cache_open(void);
/* The same, to fill one: the other is not looked at. Returns 0 or -errno. */
int cache_open_only(enum cache cache);
void cache_close(void);

/* -errno when there is no usable file, which is normal and not reported. */
int cache_load(struct table *table, const struct image *image);
/*
 * Between a table that was not there, and cache_store(): processes that start
 * together make it once. Returns true if it is worth looking for it again. The
 * lock ends with its process.
 */
bool cache_lock_table(const struct image *image);
void cache_unlock_table(void);

/* The table has rows and windows. */
void cache_store(const struct table *table, const void *data, size_t length,
		 const struct image *image);

/* The name of its file. */
void cache_name(struct text *name, const struct image *image);

#endif /* SFJIT_PRELOAD_CACHE_H */
