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

/* Of the directory, with the slash; 0: it is the working directory. */
size_t path_directory(const char *path);

/*
 * The number in "/dev/fd/N", "/proc/self/fd/N" and what leads there, else -1.
 * Such a file is written to by its descriptor.
 */
int path_fd(const char *path);

/*
 * Follows links as far as path_fd() or a name that is no link; the last need
 * not be there. 0 or -errno.
 */
int path_resolve(const char *path, char target[PATH_MAX]);

/* Why a file of this kind is not written to by its name, or NULL. */
const char *path_why_not(mode_t mode);

/*
 * Owner and mode of the file that @fd replaces; without one (NULL), the mode
 * of a new file.
 */
int path_set_mode(int fd, const struct stat *old);

#endif /* SFRAMEGEN_PATH_H */
