/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Tables that belong to files: the calls of the kernel, and its list of them.
 */
#ifndef SFJIT_RUN_FILE_TABLES_H
#define SFJIT_RUN_FILE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <sfjit/device.h>
#include <sfjit/sframe.h>

/* A line of the list. */
struct file_table {
	unsigned int id;
	unsigned int major, minor;
	uint64_t inode;
	uint64_t first, last;	/* of the text in the file; last is after it */
	uint64_t bytes;
	bool changed;		/* the file: the table is not used any more */
};

/*
 * A descriptor that holds tables, from prctl() or the device node. -EINVAL:
 * this kernel has neither; -EPERM or -EACCES: not for this process.
 */
int file_tables_open(void);

/* A file, open to read, and its change time before it was read. */
struct table_of {
	int fd;
	struct timespec ctime;
};

/*
 * Gives the file a packed table; 'bias' is added to its text_start to get the
 * offset of its text in the file. Returns its id or -errno; -EEXIST: the file
 * has one for that text; -EAGAIN: it has changed since, or only just before.
 */
int file_tables_add(int fd, const struct table_of *file, const void *table,
		    size_t length, uint64_t bias);
int file_tables_remove(int fd, unsigned int id);

/* Whether a descriptor of the process with this directory holds tables. */
bool file_tables_are(const char *dir, int fd);

/*
 * Calls 'take' for each of its tables, and 'other', unless it is NULL, with each
 * other line that the kernel shows. Returns 0 or -errno.
 */
int file_tables_list(const char *dir, int fd,
		     void (*take)(void *arg, const struct file_table *table),
		     void (*other)(void *arg, const char *line), void *arg);

/*
 * Calls 'found' with the directory and number of each descriptor that holds
 * tables, of all processes that this one may read.
 */
void file_tables_find(const char *proc,
		      void (*found)(void *arg, const char *dir, int fd),
		      void *arg);

#endif /* SFJIT_RUN_FILE_TABLES_H */
