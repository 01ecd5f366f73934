/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Files of a process that profilers read. Call these with the lock held.
 */
#ifndef SFJIT_FILE_H
#define SFJIT_FILE_H

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * /tmp/PREFIX-PID.SUFFIX, lines of text.
 * @pid: the process that wrote the last line, 0 for none
 * @end: the end of that line
 */
struct sfjit_file {
	const char *prefix, *suffix;
	pid_t pid;
	off_t end;
};

/*
 * Appends a line; in a forked child the inherited lines first. Returns 0 or
 * -errno.
 */
int sfjit_write_line(struct sfjit_file *file, const char *line, size_t length);

/* Writes the inherited lines if a forked child has not done so. */
int sfjit_sync_file(struct sfjit_file *file);

/*
 * Copies a name to @to without control characters, cut at SFJIT_NAME_BYTES.
 * Returns its length; @to is not terminated.
 */
#define SFJIT_NAME_BYTES	4000
size_t sfjit_clean_name(char *to, const char *name);

/*
 * Opens a regular file of this user, not through a symlink; @flags as open(2).
 * Returns a descriptor or -errno.
 */
int sfjit_open_file(const char *path, int flags, struct stat *st);

/*
 * The functions below are async-signal-safe and need no lock. The first opens
 * the file of a process as above, the second truncates one that is older than
 * this process.
 */
int sfjit_open_lines(const char *prefix, const char *suffix, pid_t pid,
		     int flags, struct stat *st);
int sfjit_drop_stale_lines(int fd);

/* Writes digits without a terminator; returns how many. */
size_t sfjit_put_number(char *to, unsigned long value, unsigned int base);

/* One write, so that lines of several producers do not mix. */
int sfjit_append(int fd, const struct iovec *parts, int nr);

#endif /* SFJIT_FILE_H */
