/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Sections that the kernel reads while they change.
 */
#ifndef SFJIT_LIVE_SECTION_H
#define SFJIT_LIVE_SECTION_H

#include "internal.h"

/* The index starts here: an entry does not share two cache lines. */
#define SFJIT_INDEX_OFFSET	32

/* The kernel takes so many entries of an index, and offsets of 32 bits. */
#define SFJIT_MAX_ENTRIES	(1u << 24)
#define SFJIT_MAX_LENGTH	UINT32_MAX

/*
 * @length: bytes that the kernel is told of
 * @mapped: with what the owner has behind them, aligned for 8 bytes
 */
struct sfjit_live_section {
	unsigned char	*start;
	size_t		length;
	size_t		mapped;
};

/*
 * Maps one for so many entries and, behind them, bytes of rows; and @behind
 * further ones. Its header counts no functions. Returns 0, -E2BIG or -ENOMEM.
 */
int sfjit_map_live(struct sfjit_live_section *section, uint32_t entries,
		   uint64_t row_bytes, size_t behind);
int sfjit_unmap_live(const struct sfjit_live_section *section);

/*
 * The end: removes the window, unless its registration returned @error, and
 * unmaps the section. Takes the lock. Returns 0 or -ENOMEM.
 */
int sfjit_retire_live(const struct sfjit_live_section *section, uintptr_t key,
		      int error);

/* Whether text is inside of the area, and where functions can be published. */
int sfjit_live_check_text(const struct sfjit_live *live,
			  const struct sfjit_range *text);

/*
 * Adds the functions of a section that is valid where it is, and has been
 * checked: all or none, as one that starts at *@start. Returns 0 or -ENOSPC.
 */
int sfjit_live_append(struct sfjit_live *live, const void *section,
		      const void **start);

#endif /* SFJIT_LIVE_SECTION_H */
