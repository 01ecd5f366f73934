/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Builds a line of text without stdio, locale or allocation. It drops text that
 * does not fit. data is always a string.
 */
#ifndef SFJIT_PRELOAD_TEXT_H
#define SFJIT_PRELOAD_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	size_t length;
	char data[1024];
};

void text_put(struct text *t, const char *string);
/* A newline, in any case. */
void text_end_line(struct text *t);
/* With leading zeros up to 'width' digits. */
void text_decimal(struct text *t, uint64_t value, unsigned int width);
void text_hex(struct text *t, uint64_t value, unsigned int width);

#endif /* SFJIT_PRELOAD_TEXT_H */
