/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The files that were mapped, by device and inode: those that wait for their
 * conversion, in the order of coming, those of slow devices last; those with
 * tables, and how much memory these take; and those that have none.
 */
#ifndef SFJIT_DAEMON_FILESET_H
#define SFJIT_DAEMON_FILESET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include <sfjit-stacks.h>

#include "file_tables.h"

#define FILES_MOST	65536
#define TABLES_MOST	16	/* of a file */

enum file_state {
	FILE_QUEUED,
	FILE_AT_WORK,		/* is converted now */
	FILE_HAS_TABLES,
	FILE_HAS_NONE,
};

TAILQ_HEAD(file_list, file);

struct file {
	TAILQ_ENTRY(file) used;
	TAILQ_ENTRY(file) queue;
	struct file_list *in;		/* the queue it is in, or NULL */
	enum file_state state;
	unsigned int major, minor;
	uint64_t inode, generation;	/* generation 0: not known */
	unsigned int ids[TABLES_MOST];
	unsigned int nr_ids;
	uint64_t bytes;			/* of its tables */
	/* FILE_QUEUED, FILE_AT_WORK: who has it mapped, and where. */
	pid_t pid;
	struct sfjit_stacks_mapping mapping;
	char *path;
};

struct device {
	unsigned int major, minor;
};

struct fileset {
	int tables;			/* the kernel's descriptor */
	uint64_t most, bytes;		/* of tables */
	bool evicts;			/* a message said so */
	void *by_inode;			/* tsearch() */
	struct file *at_work;		/* NULL: none */
	struct file_list used;		/* least recently mapped first */
	struct file_list queue, last;	/* last: files of slow devices */
	size_t nr;
	struct device *slow;		/* they did not answer in time */
	size_t nr_slow, max_slow;
};

void fileset_init(struct fileset *files, int tables, uint64_t most);
void fileset_clear(struct fileset *files);

/* A file was mapped. A new one is queued. */
void fileset_note(struct fileset *files, pid_t pid, uint64_t generation,
		  const struct sfjit_stacks_mapping *mapping);

/* The next to be converted, which is FILE_AT_WORK from now on, or NULL. */
struct file *fileset_next(struct fileset *files);

/*
 * Puts the file of a slow device that is at work back into the queue; false: it is of
 * no slow device, or no other file waits.
 */
bool fileset_give_way(struct fileset *files);

/* Its device did not answer. That is forgotten when a file there gets a table. */
void fileset_set_slow(struct fileset *files, const struct file *file);

/* The end of its conversion. */
void fileset_set_tables(struct fileset *files, struct file *file,
			const unsigned int *ids, unsigned int nr,
		      uint64_t bytes);
void fileset_set_none(struct fileset *files, struct file *file);

/* Removes its tables; the file is as if it had never been mapped. */
void fileset_forget(struct fileset *files, struct file *file);

/* Removes tables until so many bytes are free; false: that is impossible. */
bool fileset_make_room(struct fileset *files, uint64_t bytes);

/* A table that the kernel has already. */
void fileset_adopt(struct fileset *files, const struct file_table *table);

/* A table is that of a file which has changed: forgets the file. */
void fileset_drop(struct fileset *files, unsigned int id);

#endif /* SFJIT_DAEMON_FILESET_H */
