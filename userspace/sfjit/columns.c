// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check_alloc.h"
#include "columns.h"
#include "printable.h"

void columns_add(struct columns *table, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	check_alloc(text);
	if (!(table->nr & (table->nr - 1)))
		table->cells = check_alloc(reallocarray(table->cells,
				table->nr ? 2 * table->nr : 1, sizeof(text)));
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
	table->nr = 0;
}
