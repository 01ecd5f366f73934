/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Text that others chose, for a terminal and for JSON.
 */
#ifndef SFJIT_RUN_PRINTABLE_H
#define SFJIT_RUN_PRINTABLE_H

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

#endif /* SFJIT_RUN_PRINTABLE_H */
