/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Memory of packed tables that grow: make them, and take bytes for blocks.
 */
#ifndef SFJIT_GROWING_MEMORY_H
#define SFJIT_GROWING_MEMORY_H

#include "growing_table.h"

/*
 * Makes a table for @text_length bytes at @text, at most 4 GiB. Returns 0,
 * -ENOMEM, or -E2BIG if there are too many rules or bytes of blocks.
 */
int sfjit_growing_map(struct sfjit_growing *table, uint64_t text,
		      size_t text_length, size_t rules, size_t blocks);
int sfjit_growing_unmap(const struct sfjit_growing *table);

/* Units are 1 << this bytes. */
unsigned int sfjit_growing_unit_shift(void);

/*
 * Returns the offset of @size unused bytes for a block of @bucket, or -ENOSPC.
 * @spare: the last chunks may be used
 */
int64_t sfjit_growing_take(struct sfjit_growing *table, uint32_t bucket,
			   uint32_t size, bool spare);

/* Makes the blocks of zones [first, end) unused. No bucket has one. */
void sfjit_growing_free(struct sfjit_growing *table, uint32_t first,
			uint32_t end);

/* Bytes of blocks, and of those that functions may still take. */
size_t sfjit_growing_blocks(const struct sfjit_growing *table);
size_t sfjit_growing_room(const struct sfjit_growing *table);

#endif /* SFJIT_GROWING_MEMORY_H */
