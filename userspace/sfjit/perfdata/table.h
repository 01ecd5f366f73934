/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Numbers by number, and places of the input by time.
 */
#ifndef SFJIT_PERFDATA_TABLE_H
#define SFJIT_PERFDATA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One that is all zero is empty. */
struct table {
	struct table_entry *entries;
	size_t room, used;	/* room: 0, or a power of two */
};

void table_free(struct table *table);

/*
 * The place of a key, valid until the next one is added. NULL: it is not
 * there, or for table_add(), which begins with 0: there is no memory.
 */
uint64_t *table_find(const struct table *table, uint64_t key);
uint64_t *table_add(struct table *table, uint64_t key);
void table_remove(struct table *table, uint64_t key);

/*
 * Places of the input in the order of time; those of the same time in that of
 * the input. One that is all zero is empty.
 */

struct ordered {
	uint64_t time, offset;
};

struct order {
	struct ordered *list;
	size_t first, nr, max;
};

void order_free(struct order *order);

/* 0, or -ENOMEM. */
int order_add(struct order *order, uint64_t time, uint64_t offset);

/* Before the first is taken. */
void order_sort(struct order *order);
/* The next one up to a time; false: there is none. */
bool order_take(struct order *order, uint64_t until, struct ordered *next);

#endif /* SFJIT_PERFDATA_TABLE_H */
