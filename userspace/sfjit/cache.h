/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The parts of sfjit cache.
 */
#ifndef SFJIT_RUN_CACHE_H
#define SFJIT_RUN_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "../preload/cache_dir.h"
#include "names.h"

/* Prints a line with the directory that was tried last. */
void cache_complain(const char *what, int error);

/*
 * Makes the tables of these files, of the module and of the vDSO, prints a line
 * for each, and adds what they are called in the cache. Returns 0, or 1 if
 * there are some that should have one and do not, or EXIT_OURS.
 */
int cache_fill(enum cache cache, const struct names *files,
	       struct names *tables);

/*
 * Locks the system's cache until the program ends. Only root can open the
 * lock's file, so no other user can hold it. Returns 0 or -errno.
 */
int cache_lock(int tables);

/*
 * The programs of the system's cache, beside the directory with its tables. A
 * file of another owner, or that others can write, is refused. Returns 0 or
 * -errno.
 */
int cache_read_programs(int tables, struct names *programs);
int cache_write_programs(int tables, const struct names *programs);

struct cache_bounds {
	unsigned long days;	/* since it was used */
	unsigned long mib;
	const struct names *keep;	/* only these, or NULL */
};

/* The defaults. */
#define CACHE_DAYS	90
#define CACHE_MIB	512

struct cache_cleaned {
	size_t removed;
	uint64_t removed_bytes, left_bytes;
};

/* Removes tables that are outside of the bounds. Returns 0 or -errno. */
int cache_clean(int tables, const struct cache_bounds *bounds,
		struct cache_cleaned *cleaned);

/*
 * Does so to this user's own caches, at most once a day. It ignores errors; the
 * next call tries again.
 */
void cache_tend(void);

#endif /* SFJIT_RUN_CACHE_H */
