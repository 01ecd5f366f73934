/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Files of a process that profilers read. The caller holds the lock.
 */
#ifndef SFJIT_FILE_H
#define SFJIT_FILE_H

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * /tmp/PREFIX-PID.SUFFIX, lines of text. @pid: the process that wrote the last
 * line, 0 for none; @end: where that line ended.
 */
struct sfjit_file {
	const char *prefix, *suffix;
	pid_t pid;
	off_t end;
};

/*
 * Appends a line, at first those that a forked child inherited. Returns 0 or
 * -errno.
 */
int sfjit_write_line(struct sfjit_file *file, const char *line, size_t length);

/* Writes what a forked child inherited, if that was not done. */
int sfjit_sync_file(struct sfjit_file *file);

/*
 * Copies a name to @to, without control characters and cut at so many bytes.
 * Returns its length; there is no byte 0.
 */
#define SFJIT_NAME_BYTES	4000
size_t sfjit_clean_name(char *to, const char *name);

/*
 * A descriptor for a regular file of our own, by no link; @flags: as open(2).
 * Or -errno.
 */
int sfjit_open_file(const char *path, int flags, struct stat *st);

/*
 * What follows is async-signal-safe, and needs no lock. The first opens the file
 * of a process as above, the second empties one that is older than this process.
 */
int sfjit_open_lines(const char *prefix, const char *suffix, pid_t pid,
		     int flags, struct stat *st);
int sfjit_drop_stale_lines(int fd);

/* Digits without a byte 0; returns how many. */
size_t sfjit_put_number(char *to, unsigned long value, unsigned int base);

/* One write, so that those of several producers do not mix. */
int sfjit_append(int fd, const struct iovec *parts, int nr);

#endif /* SFJIT_FILE_H */
