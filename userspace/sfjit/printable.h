/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Text that others chose, for a terminal and for JSON; and cells of text in
 * columns as wide as the widest of them.
 */
#ifndef SFJIT_RUN_PRINTABLE_H
#define SFJIT_RUN_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The next character of a string, 0 at its end. U+FFFD stands for control
 * characters and for what is no UTF-8.
 */
uint32_t printable_next(const char **text);
/* Writes it as UTF-8 to 'bytes'; returns their number. */
unsigned int printable_put(uint32_t c, char bytes[4]);
void printable_print(const char *text, FILE *out);

/* In quotes; characters as of printable_next(). NULL is null. */
void json_put_string(const char *text, FILE *out);

struct columns {
	unsigned int columns;
	uint32_t right;		/* bit n: numbers are in column n */
	const char *indent;
	char **cells;
	size_t nr, max;
};

void columns_add(struct columns *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints and empties it. */
void columns_print(struct columns *table, FILE *out);

#endif /* SFJIT_RUN_PRINTABLE_H */
