// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sframegen.h>

#include "section.h"

/* Functions, each with rows[first] and those that follow. */
struct functions {
	struct sfjit_function *list;
	struct sfjit_row *rows;
	size_t nr, nr_rows, room;
};

static void make_room(struct functions *to)
{
	if (to->nr_rows < to->room)
		return;
	to->room = to->room ? 2 * to->room : 1024;
	to->list = realloc(to->list, to->room * sizeof(*to->list));
	to->rows = realloc(to->rows, to->room * sizeof(*to->rows));
	if (!to->list || !to->rows)
		err(2, "a table");
}

/* What the kernel does there. */
static struct sfjit_row plain_row(const struct sfjit_row *row)
{
	const struct sfjit_row by_fp = {
		.start = row->start,
		.cfa = sfjit_rule_reg(SFJIT_X86_64_FP, 16),
		.fp = sfjit_rule_saved(-16),
	};

	return row->flags & SFG_ROW_FP ? by_fp : *row;
}

/* Each stretch is a function, unless it is a part of a block that repeats. */
static void add(struct functions *to, const struct sfjit_function *code,
		const struct sfjit_row *row)
{
	struct sfjit_function *last = to->nr ? &to->list[to->nr - 1] : NULL;

	make_room(to);
	if (!last || !code->repeat || last->addr != code->addr) {
		last = &to->list[to->nr++];
		*last = *code;
		last->nr_rows = 0;
	}
	if (code->nr_rows)
		last->nr_rows++;
	to->rows[to->nr_rows++] = plain_row(row);
}

static int read_table(const void *bytes, size_t length, uint64_t bias,
		      struct functions *to)
{
	struct sfjit_function code;
	struct sfg_packed table;
	struct sfg_error error;
	struct sfjit_row row;
	uint64_t at = 0;
	int ret;

	ret = sfg_open_packed(&table, bytes, length, &error);
	while (!ret) {
		ret = sfg_next_packed_row(&table, &at, &code, &row, &error);
		code.addr += bias;
		if (!ret)
			add(to, &code, &row);
	}
	return ret == -ENOENT ? 0 : ret;
}

/* The rows do not move any more. */
static void point_to_rows(struct functions *functions)
{
	const struct sfjit_row *row = functions->rows;
	size_t i;

	for (i = 0; i < functions->nr; i++) {
		functions->list[i].rows = row;
		row += functions->list[i].nr_rows ? functions->list[i].nr_rows : 1;
	}
}

void *section_of_table(const void *table, size_t length, uint64_t bias,
		       uint64_t addr, size_t *size)
{
	struct functions functions = { 0 };
	void *section = NULL;
	size_t most;

	if (!read_table(table, length, bias, &functions)) {
		point_to_rows(&functions);
		most = SFG_SECTION_MAX(functions.nr, functions.nr_rows);
		section = malloc(most);
		if (section &&
		    sfg_write_section(SFG_HOST_ABI, functions.list,
				      functions.nr, addr, section, most, size,
				      NULL)) {
			free(section);
			section = NULL;
		}
	}
	free(functions.list);
	free(functions.rows);
	return section;
}
