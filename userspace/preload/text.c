// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Appending strings and numbers. */
#include "text.h"

static void put_char(struct text *t, char c)
{
	if (t->length >= sizeof(t->data) - 1)
		return;
	t->data[t->length++] = c;
	t->data[t->length] = '\0';
}

void text_put(struct text *t, const char *string)
{
	/* One record stays one line, whatever a file is called. */
	for (; *string; string++)
		put_char(t, (unsigned char)*string < ' ' ? '?' : *string);
}

void text_end_line(struct text *t)
{
	if (t->length == sizeof(t->data) - 1)
		t->length--;
	put_char(t, '\n');
}

static void put_number(struct text *t, uint64_t value, unsigned int base,
		       unsigned int width)
{
	char digits[64];
	unsigned int nr = 0;

	do {
		digits[nr++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || nr < width);
	while (nr)
		put_char(t, digits[--nr]);
}

void text_decimal(struct text *t, uint64_t value, unsigned int width)
{
	put_number(t, value, 10, width);
}

void text_hex(struct text *t, uint64_t value, unsigned int width)
{
	put_number(t, value, 16, width);
}
