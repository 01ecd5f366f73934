/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The packed table of one module, for link-time addresses: its window has the
 * load bias, so that processes share the table. It is in memory that the kernel
 * can read when it must not fault: pages that are there, also in a forked child.
 */
#ifndef SFJIT_PRELOAD_TABLE_H
#define SFJIT_PRELOAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

/* Windows without memory of their own: few modules have more. */
#define TABLE_FEW	4

struct window {
	uint64_t start, length;	/* link-time address */
};

struct table {
	void *data;		/* read only; a file that may be cut short: the
				   kernel reads it, and nobody else */
	size_t length;
	size_t mapped;
	uint32_t rows;		/* stretches of code that have one row each */
	uint32_t nr_windows;
	struct window few[TABLE_FEW];
	struct window *many;	/* if there are more */
	size_t many_mapped;
	bool from_cache;	/* it was there */
	bool in_cache;		/* it is there */
};

static inline struct window *table_windows(const struct table *table)
{
	return table->many ? table->many : (struct window *)table->few;
}

/* Makes room for that many windows, which the caller fills in. */
int table_room(struct table *table, uint32_t nr_windows);

/* A copy of what is in memory, or in a file of at least this length. */
int table_copy(struct table *table, const void *data, size_t length);
int table_read(struct table *table, int fd, size_t length);

/* The beginning of a file, as it is in the page cache. */
int table_map(struct table *table, int fd, size_t length);

void table_free(struct table *table);

/*
 * Which addresses of a module the windows cover: where the table has rows, which
 * are counted. 0 or -ENOMEM.
 */
int table_choose_windows(struct table *table, const void *data, size_t length,
			 const struct image *image);

#endif /* SFJIT_PRELOAD_TABLE_H */
