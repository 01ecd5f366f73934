/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Numbers by number. One that is all zero is empty.
 */
#ifndef SFJIT_PERFDATA_TABLE_H
#define SFJIT_PERFDATA_TABLE_H

#include <stddef.h>
#include <stdint.h>

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

#endif /* SFJIT_PERFDATA_TABLE_H */
