/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where the cache of tables is, and to whom it has to belong.
 */
#ifndef SFJIT_PRELOAD_CACHE_DIR_H
#define SFJIT_PRELOAD_CACHE_DIR_H

#include <stdbool.h>
#include <sys/stat.h>

#define CACHE_BY_OTHERS	(S_IWGRP | S_IWOTH)

enum cache {
	CACHE_OWN,		/* the user's */
	CACHE_SYSTEM,		/* in /var/cache; all read it, root writes it */
};

/* Takes a copy of what it needs: programs overwrite their environment. */
void cache_dir_init(char **environment);

/*
 * The directory with the tables, or -errno: -EPERM where it, or one above it,
 * belongs to others or can be written by them.
 */
int cache_dir_open(enum cache cache, bool create);

/* The directory that was opened, or that could not be. */
const char *cache_dir_path(void);

/* That in which the user's own is, and which is never made; "": none. */
const char *cache_dir_base(void);

/* Of this type and of its owner, and not writable for 'others'. */
bool cache_is_safe(int fd, enum cache cache, unsigned int type,
		   unsigned int others, struct stat *st);

#endif /* SFJIT_PRELOAD_CACHE_DIR_H */
