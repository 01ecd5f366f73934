// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * packed-rows SECTION TABLE UNIT: both are for the same file, and say the same: at
 * each address where a row of one of them starts or ends, and at the addresses of
 * instructions, UNIT bytes apart, before and after it. Only the table says where
 * rbx is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle-section.h"

static struct sfg_section section;
static struct sfg_packed table;
static uint64_t unit, tried, bad, rows;

/* The section has no row there, the table knows nothing or that it is a signal's. */
static bool same_lack(int a, const struct sfjit_function *f, int b,
		      const struct sfjit_function *g)
{
	return a == -ENOENT && b == -ENOENT && f->flags == g->flags &&
	       !f->nr_rows && !g->nr_rows;
}

static bool same_row(const struct sfjit_function *f, const struct sfjit_row *a,
		     const struct sfjit_function *g, const struct sfjit_row *b)
{
	struct sfjit_row known = *b;

	known.flags &= ~SFJIT_ROW_RBX;
	return sfg_rows_equal(a, &known) &&
	       (a->flags & SFJIT_ROW_OUTERMOST || f->flags == g->flags);
}

static void compare_at(uint64_t addr)
{
	struct sfjit_function f = { 0 }, g = { 0 };
	struct sfjit_row a, b;
	int x = sfg_find_row(&section, addr, &f, &a, NULL);
	int y = sfg_find_packed_row(&table, addr, &g, &b, NULL);

	tried++;
	rows += !x;
	if (x || y ? same_lack(x, &f, y, &g) : same_row(&f, &a, &g, &b))
		return;
	if (!bad++)
		printf("0x%" PRIx64 ": section %d, table %d\n", addr, x, y);
}

static void compare_near(uint64_t addr)
{
	addr &= -unit;
	compare_at(addr - unit);
	compare_at(addr);
	compare_at(addr + unit);
}

/* A function that repeats: each block of a few. */
static void compare_fde(uint32_t index)
{
	struct sfg_row_reader r;
	struct sfjit_row row;
	uint64_t at;

	sfg_read_fde(&section, index, &r, NULL);
	compare_near(r.fde.addr);
	compare_near(r.fde.addr + r.fde.size);
	while (!sfg_read_row(&r, &row, NULL))
		for (at = row.start; at < r.fde.size; at += r.fde.repeat) {
			compare_near(r.fde.addr + at);
			if (!r.fde.repeat)
				break;
		}
}

static void compare_table(void)
{
	struct sfjit_function fde;
	struct sfjit_row row;
	uint64_t at = 0;

	while (!sfg_next_packed_row(&table, &at, &fde, &row, NULL)) {
		compare_near(fde.addr + row.start);
		compare_near(fde.addr + fde.size);
	}
}

int main(int argc, char **argv)
{
	uint32_t i;

	if (argc != 4 || !load_section(argv[1], &section) ||
	    !load_table(argv[2], &table))
		return 2;
	unit = atoi(argv[3]);
	for (i = 0; i < section.header.num_fdes; i++)
		compare_fde(i);
	compare_table();
	printf("%" PRIu64 " addresses, %" PRIu64 " with rows, %" PRIu64
	       " differ\n", tried, rows, bad);
	free((void *)section.data);
	free((void *)table.data);
	return bad || !rows;
}
