/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Sections that change while the kernel reads them.
 */
#ifndef SFJIT_LIVE_SECTION_H
#define SFJIT_LIVE_SECTION_H

#include "internal.h"

/* Aligned so that no entry crosses a cache line. */
#define SFJIT_INDEX_OFFSET	32

/* Limits of the kernel: entries of an index, and 32-bit offsets. */
#define SFJIT_MAX_ENTRIES	(1u << 24)
#define SFJIT_MAX_LENGTH	UINT32_MAX

/*
 * @length: bytes registered with the kernel
 * @mapped: including the owner's bytes behind them, aligned to 8
 */
struct sfjit_live_section {
	unsigned char	*start;
	size_t		length;
	size_t		mapped;
};

/*
 * Maps a section with space for @entries, @row_bytes, and @behind further
 * bytes. Its header counts no functions. Returns 0, -E2BIG or -ENOMEM.
 */
int sfjit_map_live(struct sfjit_live_section *section, uint32_t entries,
		   uint64_t row_bytes, size_t behind);
int sfjit_unmap_live(const struct sfjit_live_section *section);

/*
 * Unregisters the window, unless registration failed with @error, and unmaps
 * the section. Takes the lock. Returns 0 or -ENOMEM.
 */
int sfjit_retire_live(const struct sfjit_live_section *section, uintptr_t key,
		      int error);

/*
 * Checks that text is inside of the window and that functions can be published
 * there.
 */
int sfjit_live_check_text(const struct sfjit_live *live,
			  const struct sfjit_range *text);

/*
 * Adds all functions of a valid section, or none, as one function that starts
 * at *@start. Returns 0 or -ENOSPC.
 */
int sfjit_live_append(struct sfjit_live *live, const void *section,
		      const void **start);

#endif /* SFJIT_LIVE_SECTION_H */
