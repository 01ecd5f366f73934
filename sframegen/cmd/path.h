/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where the name of an output leads. sfjit has this, too.
 */
#ifndef SFRAMEGEN_PATH_H
#define SFRAMEGEN_PATH_H

#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>

/* Length of the directory with the slash; 0: the working directory. */
size_t path_directory(const char *path);

/*
 * Returns N of "/dev/fd/N", "/proc/self/fd/N" and links to these, else -1.
 * Write to such a file by its descriptor.
 */
int path_fd(const char *path);

/*
 * Follows links up to path_fd() or a name that is no link, which need not
 * exist. Returns 0 or -errno.
 */
int path_resolve(const char *path, char target[PATH_MAX]);

/* Why a file of this kind cannot be written by name, or NULL. */
const char *path_why_not(mode_t mode);

/*
 * Sets owner and mode to those of @old, or if it is NULL to those of a new
 * file.
 */
int path_set_mode(int fd, const struct stat *old);

#endif /* SFRAMEGEN_PATH_H */
