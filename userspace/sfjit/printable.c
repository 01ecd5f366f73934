// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Names that other processes chose, for a terminal and for JSON: a name must
 * not move the cursor or end a string.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "printable.h"
#include "util.h"

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

static uint32_t decode_utf8(const char **text, unsigned char first)
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
	c = first < 0x80 ? first : decode_utf8(text, first);
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

void json_put_string(const char *text, FILE *out)
{
	char bytes[4];
	uint32_t c;

	if (!text) {
		fputs("null", out);
		return;
	}
	fputc('"', out);
	while ((c = printable_next(&text))) {
		if (c == '"' || c == '\\')
			fputc('\\', out);
		fwrite(bytes, printable_put(c, bytes), 1, out);
	}
	fputc('"', out);
}

void columns_add(struct columns *table, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	check_alloc(text);
	check_grow(&table->cells, &table->max, table->nr, sizeof(text));
	table->cells[table->nr++] = text;
}

static unsigned int width_of(const char *text)
{
	unsigned int width = 0;

	while (printable_next(&text))
		width++;
	return width;
}

static unsigned int column_width(const struct columns *table,
				 unsigned int column)
{
	unsigned int width, widest = 0;
	size_t i;

	for (i = column; i < table->nr; i += table->columns) {
		width = width_of(table->cells[i]);
		if (width > widest)
			widest = width;
	}
	return widest;
}

static bool ends_line(const struct columns *table, size_t i)
{
	/* No spaces before empty cells at the end of a line. */
	while (++i % table->columns)
		if (table->cells[i][0])
			return false;
	return true;
}

static void put_cell(const struct columns *table, size_t i,
		     unsigned int width, FILE *out)
{
	unsigned int column = i % table->columns;
	int pad = width - width_of(table->cells[i]);
	bool right = table->right >> column & 1;

	if (!column)
		fputs(table->indent, out);
	if (right)
		fprintf(out, "%*s", pad, "");
	printable_print(table->cells[i], out);
	if (column == table->columns - 1)
		fputc('\n', out);
	else if (!ends_line(table, i))
		fprintf(out, "%*s", right ? 2 : pad + 2, "");
}

void columns_print(struct columns *table, FILE *out)
{
	unsigned int widths[32], column;
	size_t i;

	for (column = 0; column < table->columns; column++)
		widths[column] = column_width(table, column);
	for (i = 0; i < table->nr; i++)
		put_cell(table, i, widths[i % table->columns], out);
	for (i = 0; i < table->nr; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->nr = table->max = 0;
}
