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

/* How names of tables end, and those of versions before packed tables. */
#define CACHE_SUFFIX		".packed"
#define CACHE_OLD_SUFFIX	".sframe"

enum cache {
	CACHE_OWN,		/* the user's */
	CACHE_SYSTEM,		/* in /var/cache; all read it, root writes it */
	CACHE_TEMPORARY,	/* the user's, in /tmp: where nothing can be
				   written to the first */
	CACHES
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

/* The variable that says where the user's own is; "": neither does. */
const char *cache_dir_base(void);

/* That directory is HOME, which is never made. */
bool cache_dir_is_home(void);

/* Of this type and of its owner, and not writable for 'others'. */
bool cache_is_safe(int fd, enum cache cache, unsigned int type,
		   unsigned int others, struct stat *st);

#endif /* SFJIT_PRELOAD_CACHE_DIR_H */
