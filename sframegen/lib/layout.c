// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Redistributes rows over FDEs to minimize the section.
 *
 * An FDE need not be a function. Neighbours without a signal mark and with only
 * padding between them form a chunk; equal rows that meet become one. Dynamic
 * programming from a chunk's end finds the cheapest cuts: an FDE costs its
 * index entry and attributes, and each of its rows as many bytes for its start
 * as the last one needs.
 */
#include <stdlib.h>

#include "core.h"

/* Padding between functions is shorter than the largest alignment. */
#define MAX_PADDING	64

#define FDE_COST	(sizeof(struct sframe_fde) + \
			 sizeof(struct sframe_fde_attr))
#define NO_COST		UINT32_MAX

struct cell {
	uint32_t start;		/* of the row */
	uint32_t best;		/* bytes from this row to the chunk's end */
	uint16_t rows;		/* in the FDE that starts here */
	uint8_t as_default;	/* bytes without the start; 0: not possible */
	uint8_t as_flex;	/* set where an FDE may need it */
};

struct layout {
	const struct sfg_arch *arch;
	const struct sfg_input *in;
	struct sfg_summary *sum;
	unsigned int max_rows;
	size_t text;		/* range that the last gap was in */
	const struct sfg_hole *hole, *hole_end;	/* after the last gap */
	struct sfjit_row *rows;	/* compacted in place */
	size_t nr_rows;
	struct cell *cells;	/* of the chunk's rows */
	struct sfjit_function *fdes;
	size_t nr_fdes, max_fdes;
};

static const struct sfg_image *text_of(struct layout *l, uint64_t addr)
{
	const struct sfg_input *in = l->in;

	while (l->text < in->nr_text &&
	       in->text[l->text].addr + in->text[l->text].len <= addr)
		l->text++;
	if (l->text == in->nr_text || in->text[l->text].addr > addr)
		return NULL;
	return &in->text[l->text];
}

/* Whether any byte has CFI. Call in address order. */
static bool has_hole(struct layout *l, uint64_t from, uint64_t to)
{
	while (l->hole != l->hole_end && l->hole->hi <= from)
		l->hole++;
	return l->hole != l->hole_end && l->hole->lo < to;
}

/* Whether there is only padding. Code without CFI is in no FDE. */
static bool gap_is_padding(struct layout *l, uint64_t from, uint64_t to)
{
	const struct sfg_image *text;
	const uint8_t *p;

	if (from == to)
		return true;
	if (to - from >= MAX_PADDING || has_hole(l, from, to))
		return false;
	text = text_of(l, from);
	if (!text || to - text->addr > text->len)
		return false;
	p = sfg_text_at(l->in, text, from, to - from);
	return p && sfg_padding(l->arch->abi, p, to - from) == to - from;
}

/*
 * PCMASK blocks count from the start of the FDE, and a signal mark
 * covers the whole FDE.
 */
static bool stands_alone(const struct sfjit_function *fde)
{
	return fde->repeat || fde->flags & SFJIT_FUNCTION_SIGNAL;
}

static bool continues(struct layout *l, const struct sfjit_function *first,
		      const struct sfjit_function *prev,
		      const struct sfjit_function *next)
{
	if (stands_alone(prev) || stands_alone(next) ||
	    prev->flags != next->flags)
		return false;
	if (next->addr + next->size - first->addr > UINT32_MAX)
		return false;
	return gap_is_padding(l, prev->addr + prev->size, next->addr);
}

static int push_fde(struct layout *l, const struct sfjit_function *fde)
{
	if (!grow_array(&l->fdes, &l->max_fdes, l->nr_fdes, sizeof(*l->fdes)))
		return -ENOMEM;
	l->fdes[l->nr_fdes++] = *fde;
	return 0;
}

/*
 * Rows only move down, since joining drops some, so this overwrites only rows
 * that were read.
 */
static void move_row(struct layout *l, const struct sfjit_row *row,
		     uint32_t start)
{
	struct sfjit_row *to = &l->rows[l->nr_rows];

	memmove(to, row, sizeof(*to));
	to->start = start;
	l->nr_rows++;
}

/* Joins the rows of FDEs [fde, end) to one list; returns where it begins. */
static size_t join_rows(struct layout *l, const struct sfjit_function *fde,
			const struct sfjit_function *end)
{
	uint64_t base = fde->addr;
	size_t first = l->nr_rows;
	uint32_t i;

	for (; fde != end; fde++)
		for (i = 0; i < fde->nr_rows; i++) {
			const struct sfjit_row *row = &fde->rows[i];

			if (l->nr_rows > first &&
			    sfg_rows_equal(&l->rows[l->nr_rows - 1], row))
				continue;
			move_row(l, row, fde->addr - base + row->start);
		}
	return first;
}

static void cost_rows(struct layout *l, const struct sfjit_row *rows, size_t nr)
{
	struct cell *cell = l->cells;
	size_t i;

	for (i = 0; i < nr; i++, cell++) {
		cell->start = rows[i].start;
		cell->as_default = 0;
		if (sfg_row_is_default(l->arch, &rows[i]))
			cell->as_default = sfg_row_size(l->arch, &rows[i],
							false);
	}
}

/*
 * DEFAULT or FLEX holds for a whole FDE, so one row that needs FLEX makes all
 * of them FLEX: those that are less than max_rows away from it.
 */
static void cost_rows_as_flex(struct layout *l, const struct sfjit_row *rows,
			      size_t nr)
{
	size_t i, at = 0, end;

	for (i = 0; i < nr; i++) {
		if (l->cells[i].as_default)
			continue;
		if (at + l->max_rows <= i)
			at = i - l->max_rows + 1;
		end = nr - i < l->max_rows ? nr : i + l->max_rows;
		for (; at < end; at++)
			l->cells[at].as_flex = sfg_row_size(l->arch, &rows[at],
							    true);
	}
}

/*
 * Whether one FDE with rows up to 'c', the n-th, costs more than two. Its starts
 * have 1 << shift bytes, 1 << before without that row. Wider starts for many rows
 * cost more than another FDE. So do wider starts for any 2 * FDE_COST nearby rows:
 * as an FDE of their own, between two others, they have shorter starts. A longer
 * FDE costs still more.
 */
#define MANY	(2 * FDE_COST + 1)

static bool is_too_long(const struct cell *c, uint32_t n, unsigned int shift,
			unsigned int before)
{
	if (shift != before &&
	    (n - 1) * ((1u << shift) - (1u << before)) > FDE_COST)
		return true;
	return n >= MANY && sfg_start_shift(c->start - (c - (MANY - 1))->start) < shift;
}

/*
 * Finds the best FDE that starts at a row, after all later cells. Writes its
 * own cell last: a store between loads of others is slow. Prefers the longer
 * FDE if costs are equal, to search less. Takes rows times max_rows steps for a
 * chunk, or times MANY rows in each 256 bytes of 65,536 if that is less.
 */
static void settle_cell(struct layout *l, size_t i, size_t nr)
{
	uint32_t sum_default = FDE_COST, sum_flex = FDE_COST, n = 0, cost;
	struct cell *cell = &l->cells[i];
	uint32_t best = NO_COST, best_n = 0, start = cell->start;
	unsigned int shift, before = 0;
	const struct cell *c, *last;
	bool flex = false;

	last = cell + (nr - i < l->max_rows ? nr - i : l->max_rows);
	for (c = cell; c != last; c++, before = shift) {
		shift = sfg_start_shift(c->start - start);
		if (is_too_long(c, n + 1, shift, before))
			break;
		flex |= !c->as_default;
		sum_default += c->as_default;
		sum_flex += c->as_flex;
		cost = (flex ? sum_flex : sum_default) + c[1].best +
		       (++n << shift);
		if (cost <= best) {
			best = cost;
			best_n = n;
		}
	}
	cell->best = best;
	cell->rows = best_n;
}

/*
 * Makes starts relative to the FDE, from the last one down, as the first one
 * becomes 0.
 */
static int cut_chunk(struct layout *l, struct sfjit_function chunk,
		     struct sfjit_row *rows, size_t nr)
{
	struct sfjit_function fde = chunk;
	uint64_t end = chunk.addr + chunk.size;
	size_t i, k, n;
	int ret = 0;

	for (i = 0; i < nr && !ret; i += n) {
		n = l->cells[i].rows;
		fde.addr = chunk.addr + rows[i].start;
		fde.size = (i + n < nr ? chunk.addr + rows[i + n].start : end) -
			   fde.addr;
		fde.rows = rows + i;
		fde.nr_rows = n;
		ret = push_fde(l, &fde);
		for (k = n; k-- > 0; )
			rows[i + k].start -= rows[i].start;
	}
	return ret;
}

static int layout_chunk(struct layout *l, const struct sfjit_function *fde,
			const struct sfjit_function *end)
{
	struct sfjit_function chunk = *fde;
	size_t first = join_rows(l, fde, end), nr, i;
	struct sfjit_row *rows = l->rows + first;

	nr = l->nr_rows - first;
	chunk.size = end[-1].addr + end[-1].size - chunk.addr;
	/* a packed table has no FDEs to cut */
	if (chunk.repeat || !nr || l->in->flags & SFG_INPUT_PACKED) {
		chunk.rows = rows;
		chunk.nr_rows = nr;
		return push_fde(l, &chunk);
	}
	cost_rows(l, rows, nr);
	cost_rows_as_flex(l, rows, nr);
	l->cells[nr].best = 0;
	for (i = nr; i-- > 0; )
		settle_cell(l, i, nr);
	return cut_chunk(l, chunk, rows, nr);
}

static int layout_chunks(struct layout *l, const struct sfg_fdes *old)
{
	const struct sfjit_function *fde = old->fdes, *end = fde + old->nr;
	const struct sfjit_function *next;
	int ret = 0;

	for (; fde != end && !ret; fde = next) {
		for (next = fde + 1; next != end; next++) {
			if (!continues(l, fde, next - 1, next))
				break;
			l->sum->padding_bytes +=
				next->addr - next[-1].addr - next[-1].size;
		}
		ret = layout_chunk(l, fde, next);
	}
	return ret;
}

static size_t count_rows(const struct sfg_fdes *fdes)
{
	size_t i, nr = 0;

	for (i = 0; i < fdes->nr; i++)
		nr += fdes->fdes[i].nr_rows;
	return nr;
}

/*
 * num_fres has 16 bits. The cell after the last row is the chunk's end, with
 * cost 0.
 */
int sfg_layout(const struct sfg_arch *arch, const struct sfg_input *in,
	       const struct sfg_hole *holes, size_t nr_holes,
	       struct sfg_fdes *fdes, struct sfg_summary *sum)
{
	struct layout l = {
		.hole = holes,
		.hole_end = nr_holes ? holes + nr_holes : holes,
		.arch = arch,
		.in = in,
		.sum = sum,
		.max_rows = in->max_rows ? in->max_rows : SFG_MAX_ROWS,
		.rows = fdes->rows,
	};
	int ret;

	if (l.max_rows > UINT16_MAX)
		l.max_rows = UINT16_MAX;
	l.cells = calloc(count_rows(fdes) + 1, sizeof(*l.cells));
	if (!l.cells)
		return -ENOMEM;
	ret = layout_chunks(&l, fdes);
	free(l.cells);
	if (ret) {
		free(l.fdes);
		return ret;
	}
	if (!(in->flags & SFG_INPUT_PACKED))
		sfg_count_split(fdes->fdes, fdes->nr, l.fdes, l.nr_fdes,
				l.max_rows, sum);
	free(fdes->fdes);
	fdes->fdes = l.fdes;
	fdes->nr = l.nr_fdes;
	return 0;
}
