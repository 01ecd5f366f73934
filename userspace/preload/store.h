/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Memory that lives as long as JIT code: its tables and its description.
 * Resident and anonymous, like that of modules (table.h). Many small pieces
 * share a mapping, because a process may have only so many.
 *
 * One thread at a time.
 */
#ifndef SFJIT_PRELOAD_STORE_H
#define SFJIT_PRELOAD_STORE_H

#include <stddef.h>
#include <stdint.h>

/* Cleared, aligned to 16; NULL: no memory. */
void *store_get(size_t size);
/* 'size' as it was asked for. */
void store_put(void *p, size_t size);

/*
 * A part of a section, for a part of its text. The kernel refuses a function
 * that leaves its window, and a window that leaves its mapping; code of one
 * function may lie in many mappings.
 *
 * A section like this one, in which no function leaves the range: to be given
 * to store_put(). NULL with 0: none does. 'section' is at its own address.
 * A function whose rows repeat is left out if it is cut inside of a period; the
 * section has no function if that was the only one, and stacks end there.
 */
int store_clip(const void *section, size_t length, uintptr_t start,
	       uintptr_t end, void **clipped, size_t *clipped_length);

#endif /* SFJIT_PRELOAD_STORE_H */
