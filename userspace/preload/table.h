/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The SFrame section of one module, in memory that the kernel can read when it
 * must not fault: private anonymous pages that have been written. Pages of a
 * file would lose their page table entries in a forked child.
 */
#ifndef SFJIT_PRELOAD_TABLE_H
#define SFJIT_PRELOAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
	void *data;
	size_t length;		/* of the section */
	size_t mapped;
	uint32_t rows;
	bool from_cache;
};

int table_alloc(struct table *table, size_t length);
void table_free(struct table *table);

#endif /* SFJIT_PRELOAD_TABLE_H */
