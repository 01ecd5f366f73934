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

/* Takes a copy of what it needs: programs overwrite their environment. */
void cache_dir_init(char **environment);

/*
 * The directory with the tables, or -errno: -EPERM where it, or one above it,
 * belongs to others or can be written by them.
 */
int cache_dir_open(bool create);

/* The directory that was opened, or that could not be. */
const char *cache_dir_path(void);

/* The user's, in which it is, and which is never made; "": there is none. */
const char *cache_dir_base(void);

/* Of this type, our own, and not writable for 'others'. */
bool cache_is_private(int fd, unsigned int type, unsigned int others,
		      struct stat *st);

#endif /* SFJIT_PRELOAD_CACHE_DIR_H */
