// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Collects rows into ranges of code. Rows are canonical from the start. */
#include <stdlib.h>

#include "core.h"

static int reserve_rows(struct sfg_builder *b, unsigned int nr)
{
	return grow_array(&b->rows, &b->max_rows, b->nr_rows + nr - 1,
			  sizeof(*b->rows)) ? 0 : -ENOMEM;
}

static int open_range(struct sfg_builder *b, uint64_t lo, uint64_t hi,
		      uint8_t flags)
{
	if (!grow_array(&b->ranges, &b->max_ranges, b->nr_ranges,
			sizeof(*b->ranges)))
		return -ENOMEM;
	b->ranges[b->nr_ranges++] = (struct range) {
		.addr = lo,
		.size = hi - lo,
		.first_row = b->nr_rows,
		.flags = flags,
	};
	b->open = true;
	return 0;
}

/*
 * Row starts strictly increase in a range because stretches come in address
 * order and have at least one byte. Omit a row that equals the previous one:
 * CFI also changes registers that no row describes. 'size' has 32 bits; callers
 * split longer functions.
 */
int sfg_add_row(struct sfg_builder *b, uint64_t lo, uint64_t hi,
		uint8_t flags, const struct sfjit_row *row)
{
	struct range *r;
	int ret;

	if (b->open) {
		r = &b->ranges[b->nr_ranges - 1];
		r->size = hi - r->addr;
		if (sfg_rows_equal(&b->rows[b->nr_rows - 1], row))
			return 0;
	} else {
		ret = open_range(b, lo, hi, flags);
		if (ret)
			return ret;
		r = &b->ranges[b->nr_ranges - 1];
	}
	ret = reserve_rows(b, 1);
	if (ret)
		return ret;
	b->rows[b->nr_rows] = *row;
	b->rows[b->nr_rows].start = lo - r->addr;
	b->nr_rows++;
	r->nr_rows++;
	return 0;
}

int sfg_add_repeat(struct sfg_builder *b, uint64_t lo, uint64_t hi,
		   uint8_t flags, unsigned int rep_size,
		   const struct sfjit_row *rows, unsigned int nr)
{
	struct range *r;
	int ret = open_range(b, lo, hi, flags);

	if (!ret)
		ret = reserve_rows(b, nr);
	if (ret)
		return ret;
	r = &b->ranges[b->nr_ranges - 1];
	r->rep_size = rep_size;
	r->nr_rows = nr;
	memcpy(b->rows + b->nr_rows, rows, nr * sizeof(*rows));
	b->nr_rows += nr;
	b->open = false;
	return 0;
}

/*
 * SFrame V3 marks a signal frame by an FDE without rows, since rows cannot
 * describe registers that the kernel stored. Without the mark, no rows means no
 * caller.
 */
int sfg_add_signal(struct sfg_builder *b, uint64_t lo, uint64_t hi,
		   uint8_t flags)
{
	int ret = open_range(b, lo, hi, flags | SFJIT_FUNCTION_SIGNAL);

	b->open = false;
	return ret;
}

int sfg_add_hole(struct sfg_builder *b, uint64_t lo, uint64_t hi)
{
	if (!grow_array(&b->holes, &b->max_holes, b->nr_holes,
			sizeof(*b->holes)))
		return -ENOMEM;
	b->holes[b->nr_holes++] = (struct sfg_hole) { lo, hi };
	b->open = false;
	return 0;
}

void sfg_close_range(struct sfg_builder *b)
{
	b->open = false;
}

void sfg_free_builder(struct sfg_builder *b)
{
	free(b->rows);
	free(b->ranges);
	free(b->holes);
	memset(b, 0, sizeof(*b));
}

static bool is_sorted(const struct sfg_builder *b)
{
	size_t i;

	for (i = 1; i < b->nr_ranges; i++)
		if (b->ranges[i].addr < b->ranges[i - 1].addr)
			return false;
	for (i = 1; i < b->nr_holes; i++)
		if (b->holes[i].lo < b->holes[i - 1].lo)
			return false;
	return true;
}

static int compare_holes(const void *x, const void *y)
{
	const struct sfg_hole *a = x, *b = y;

	return (a->lo > b->lo) - (a->lo < b->lo);
}

static int compare_ranges(const void *x, const void *y)
{
	const struct range *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

/*
 * Parts of an outer function precede the nested one. Rows follow the order of
 * their ranges, which sfg_layout() relies on.
 */
static int sort_ranges(struct sfg_builder *b)
{
	struct sfjit_row *rows;
	size_t at = 0, i;
	struct range *r;

	if (is_sorted(b))
		return 0;
	rows = malloc((b->nr_rows + 1) * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	if (b->nr_holes)
		qsort(b->holes, b->nr_holes, sizeof(*b->holes), compare_holes);
	if (b->nr_ranges)
		qsort(b->ranges, b->nr_ranges, sizeof(*b->ranges),
		      compare_ranges);
	for (i = 0; i < b->nr_ranges; i++) {
		r = &b->ranges[i];
		memcpy(rows + at, b->rows + r->first_row,
		       r->nr_rows * sizeof(*rows));
		r->first_row = at;
		at += r->nr_rows;
	}
	free(b->rows);
	b->rows = rows;
	return 0;
}

/* Allocate one entry more than needed: malloc(0) may return NULL. */
int sfg_builder_fdes(struct sfg_builder *b, struct sfg_fdes *fdes)
{
	size_t i;

	/* signal frames have no rows, but point to where they would be */
	if (reserve_rows(b, 1) || sort_ranges(b))
		return -ENOMEM;
	fdes->fdes = malloc((b->nr_ranges + 1) * sizeof(*fdes->fdes));
	if (!fdes->fdes)
		return -ENOMEM;
	for (i = 0; i < b->nr_ranges; i++)
		fdes->fdes[i] = (struct sfjit_function) {
			.addr = b->ranges[i].addr,
			.size = b->ranges[i].size,
			.rows = b->rows + b->ranges[i].first_row,
			.nr_rows = b->ranges[i].nr_rows,
			.flags = b->ranges[i].flags,
			.repeat = b->ranges[i].rep_size,
		};
	fdes->nr = b->nr_ranges;
	fdes->rows = b->rows;
	b->rows = NULL;
	free(b->ranges);
	b->ranges = NULL;
	return 0;
}

void sfg_free_fdes(struct sfg_fdes *fdes)
{
	free(fdes->fdes);
	free(fdes->rows);
	memset(fdes, 0, sizeof(*fdes));
}
