/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Cells of text in columns as wide as the widest of them.
 */
#ifndef SFJIT_RUN_COLUMNS_H
#define SFJIT_RUN_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct columns {
	unsigned int columns;
	uint32_t right;		/* bit n: numbers are in column n */
	const char *indent;
	char **cells;
	size_t nr;
};

void columns_add(struct columns *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints and empties it. */
void columns_print(struct columns *table, FILE *out);

#endif /* SFJIT_RUN_COLUMNS_H */
