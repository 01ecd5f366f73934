/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The checks of check.c for packed tables.
 */
#ifndef SFJIT_CHECK_PACKED_H
#define SFJIT_CHECK_PACKED_H

#include "internal.h"

/* Whether a table that sfjit_check() was given is a packed one. */
bool sfjit_is_packed(const struct sfjit_table *table);

/* As sfjit_check(), sfjit_find_row() and sfjit_table_text(). */
int sfjit_check_packed(const struct sfjit_table *table,
		       struct sfjit_complaint *complaint);
int sfjit_find_packed_row(const struct sfjit_table *table, const void *ip,
			  struct sfjit_function *function,
			  struct sfjit_row *row,
			  struct sfjit_complaint *complaint);
void sfjit_packed_text(const struct sfjit_table *table, uintptr_t *start,
		       uintptr_t *end);

#endif /* SFJIT_CHECK_PACKED_H */
