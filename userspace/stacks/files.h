/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Files that mappings name, and their tables. Two names of one content, as in
 * containers, have one table.
 */
#ifndef SFJIT_STACKS_FILES_H
#define SFJIT_STACKS_FILES_H

#include <sys/queue.h>

#include "origin.h"
#include "process.h"
#include "table.h"

TAILQ_HEAD(unused_tables, table);

struct files {
	unsigned int abi;
	sfjit_stacks_open_fn open;
	void *arg;
	size_t keep;			/* bytes of unused tables */
	bool live;

	void *origins;			/* tsearch() */
	void *tables;			/* tsearch() */
	struct unused_tables unused;	/* the oldest first */
	size_t unused_bytes;
	uint64_t nr_origins, nr_tables, table_bytes;
	uint64_t serial;		/* of the last table */
};

void files_init(struct files *files, const struct sfjit_stacks_options *options);

/* When no origin is left. */
void files_clear(struct files *files);

/* See sfjit_stacks_is_memory(). */
bool files_is_memory(const char *path);

/* Counted; NULL: no memory. */
struct origin *files_find(struct files *files,
			  const struct sfjit_stacks_mapping *mapping);

/* Where an origin is mapped, and those from whom the process comes. */
struct user {
	const struct process *process;
	uint64_t start, length, offset;
};

/* The table of an origin, read now if it was not; NULL: origin->why. */
struct table *files_table(struct origin *origin, const struct user *user);

/* Bytes of the file whose table an origin has: 0, or an error. */
int files_read(struct origin *origin, const struct user *user, uint64_t offset,
	       void *to, size_t length);

/* Reads it now if its path does not lead there: its process may end. */
void files_prepare(struct origin *origin, const struct user *user);

#endif /* SFJIT_STACKS_FILES_H */
