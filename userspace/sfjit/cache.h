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
#include "util.h"

/*
 * The libraries that programs are linked with: adds a program, searched for in
 * PATH, a library, or each library in a directory; and the libraries that ld.so
 * finds for them. Runs none of them. Returns NULL, or a constant that says what
 * is wrong.
 */
const char *cache_add_libraries(struct names *files, const char *what);

/*
 * Makes the tables of these files, of the module and of the vDSO, prints a line
 * for each, and adds what they are called in the cache. Returns 0, or 1 if
 * there are some that should have one and do not, or EXIT_OURS.
 */
int cache_fill(enum cache cache, const struct names *files,
	       struct names *tables);

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
