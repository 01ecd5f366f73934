/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef REPLAY_SECTION_H
#define REPLAY_SECTION_H

#include <stddef.h>
#include <stdint.h>

/*
 * A section, to lie at @addr, with the rows of a packed table whose code was loaded
 * @bias higher than it says: a corpus has sections. NULL, or to be freed.
 */
void *section_of_table(const void *table, size_t length, uint64_t bias,
		       uint64_t addr, size_t *size);

#endif
