// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Names that other processes chose, for a terminal and for JSON: a name must
 * not move the cursor or end a string.
 */
#include <stdbool.h>

#include "printable.h"

#define BAD	0xfffd

/* Bytes after the first, and the least character that needs them. */
static unsigned int nr_behind(unsigned char first, uint32_t *least)
{
	*least = first < 0xe0 ? 0x80 : first < 0xf0 ? 0x800 : 0x10000;
	if (first < 0xc0 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

static bool is_printable(uint32_t c)
{
	/* C0, DEL and C1: terminals act on them. */
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	/* Orders of direction, which make a line read otherwise. */
	if (c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
	    (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return false;
	return (c < 0xd800 || c > 0xdfff) && c <= 0x10ffff;
}

static uint32_t decode(const char **text, unsigned char first)
{
	uint32_t c, least;
	unsigned int i, nr = nr_behind(first, &least);

	if (!nr)
		return BAD;
	c = first & (0x3f >> nr);
	for (i = 0; i < nr; i++) {
		if (((*text)[i] & 0xc0) != 0x80)
			return BAD;
		c = c << 6 | ((*text)[i] & 0x3f);
	}
	*text += nr;
	return c < least ? BAD : c;
}

uint32_t printable_next(const char **text)
{
	unsigned char first = **text;
	uint32_t c;

	if (!first)
		return 0;
	++*text;
	c = first < 0x80 ? first : decode(text, first);
	return is_printable(c) ? c : BAD;
}

unsigned int printable_put(uint32_t c, char bytes[4])
{
	unsigned int i, nr = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };

	for (i = nr; i; i--, c >>= 6)
		bytes[i] = 0x80 | (c & 0x3f);
	bytes[0] = lead[nr] | c;
	return nr + 1;
}

void printable_print(const char *text, FILE *out)
{
	char bytes[4];
	uint32_t c;

	while ((c = printable_next(&text)))
		fwrite(bytes, printable_put(c, bytes), 1, out);
}
