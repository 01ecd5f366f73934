// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sframegen.h>

#include "task.h"
#include "table.h"

/* Where tables lie: away from whatever was recorded. */
#define TABLES		0x200000000000UL
#define TABLE_ROOM	0x100000000UL

static struct {
	bool sections;
	struct sfg_output outputs[TASK_MAX_WINDOWS];
	unsigned int nr, addends;
} tables;

/* The functions of a section, with their rows. */
struct functions {
	struct sfjit_function *list;
	size_t nr;
	bool addends;
};

static void free_functions(struct functions *functions)
{
	while (functions->nr)
		free((void *)functions->list[--functions->nr].rows);
	free(functions->list);
}

static int read_rows(struct sfg_row_reader *reader, struct functions *to)
{
	struct sfjit_function *function = &to->list[to->nr];
	struct sfjit_row *rows = calloc(reader->left + 1, sizeof(*rows));
	struct sfg_error err;
	int ret = 0;

	if (!rows)
		return -ENOMEM;
	*function = reader->fde;
	function->rows = rows;
	function->nr_rows = 0;
	to->nr++;
	while (!(ret = sfg_read_row(reader, &rows[function->nr_rows], &err)))
		to->addends |= rows[function->nr_rows++].cfa.addend;
	return ret == -ENOENT ? 0 : ret;
}

static bool is_inside(const struct task_window *window,
		      const struct sfjit_function *function)
{
	return function->addr >= window->text_start &&
	       function->addr + function->size <= window->text_end;
}

/* Those of the window: others may share its section. */
static int read_functions(const struct sfg_section *section,
			  const struct task_window *window,
			  struct functions *to)
{
	uint32_t i, nr = section->header.num_fdes;
	struct sfg_row_reader reader;
	struct sfg_error err;
	int ret = 0;

	*to = (struct functions){ .list = calloc(nr + 1, sizeof(*to->list)) };
	if (!to->list)
		return -ENOMEM;
	for (i = 0; i < nr && !ret; i++) {
		ret = sfg_read_fde(section, i, &reader, &err);
		if (ret || !is_inside(window, &reader.fde))
			continue;
		reader.fde.addr -= window->text_start;
		ret = read_rows(&reader, to);
	}
	return ret;
}

/* Make a window with a table of @fdes, whose addresses are from @whole's start. */
static int add_table(const struct task_window *whole, uint64_t start,
		     uint64_t end, const struct sfjit_function *fdes, size_t nr)
{
	struct task_window window = {
		.text_start = start, .text_end = end,
		.addr = TABLES + tables.nr * TABLE_ROOM,
		.packed = true, .bias = whole->text_start,
	};
	struct sfg_output *out = &tables.outputs[tables.nr];
	struct sfg_error err;
	int ret;

	if (tables.nr == TASK_MAX_WINDOWS)
		return -E2BIG;
	ret = sfg_write_packed(SFG_HOST_ABI, fdes, nr, out, &err);
	if (ret)
		return ret;
	tables.nr++;
	window.bytes = out->data;
	window.length = out->len;
	return task_register(&window);
}

/* The function with the widest gap before it. */
static size_t widest_gap(const struct sfjit_function *fdes, size_t nr)
{
	uint64_t gap, widest = 0;
	size_t i, at = 1;

	for (i = 1; i < nr; i++) {
		gap = fdes[i].addr - (fdes[i - 1].addr + fdes[i - 1].size);
		if (gap > widest) {
			widest = gap;
			at = i;
		}
	}
	return at;
}

/* One table for all of [start, end), or some. */
static int add_tables(const struct task_window *whole, uint64_t start,
		      uint64_t end, const struct sfjit_function *fdes,
		      size_t nr)
{
	int ret = add_table(whole, start, end, fdes, nr);
	uint64_t middle;
	size_t at;

	if (ret != -E2BIG || nr < 2 || tables.nr == TASK_MAX_WINDOWS)
		return ret;
	at = widest_gap(fdes, nr);
	middle = whole->text_start + fdes[at].addr;
	ret = add_tables(whole, start, middle, fdes, at);
	return ret ? ret : add_tables(whole, middle, end, fdes + at, nr - at);
}

void tables_are_sections(bool sections)
{
	tables.sections = sections;
}

void tables_begin(void)
{
	while (tables.nr)
		free(tables.outputs[--tables.nr].data);
	tables.addends = 0;
}

unsigned int tables_with_addends(void)
{
	return tables.addends;
}

static int add_window(const struct task_window *window,
		      const struct functions *functions)
{
	tables.addends += functions->addends;
	if (tables.sections)
		return task_register(window);
	return add_tables(window, window->text_start, window->text_end,
			  functions->list, functions->nr);
}

int task_add_window(const struct task_window *window)
{
	struct functions functions = { 0 };
	struct sfg_section section;
	struct sfg_error err;
	int ret;

	ret = sfg_open_section(&section, window->bytes, window->length,
			       window->addr, &err);
	if (ret)
		return ret;
	ret = read_functions(&section, window, &functions);
	if (!ret)
		ret = add_window(window, &functions);
	free_functions(&functions);
	return ret;
}
