// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Rows of Go's functions: of all in a stretch of code, and of one address. */
#include "go.h"

/* ---- All of them -------------------------------------------------------- */

struct adder {
	struct go_sink sink;
	struct sfg_builder *rows;
	struct sfg_summary *sum;
	uint64_t start;		/* of the function */
	uint64_t end;		/* of the last row of all */
};

/*
 * The kernel looks up the byte before the address that a handler returns to, as
 * unwinders do: that follows no call, and fills a gap.
 */
static int add_signal(struct adder *a, uint64_t lo, uint64_t hi)
{
	a->sum->go_bytes += hi - lo;
	lo -= a->end < lo;
	a->end = hi;
	sfg_close_range(a->rows);
	return sfg_add_signal(a->rows, lo, hi, 0);
}

/* The sink is the first member. */
static int add_go_row(struct go_sink *sink, uint64_t lo, uint64_t hi,
		      bool exact, const struct sfjit_row *row)
{
	struct adder *a = (struct adder *)sink;
	int ret = 0;

	if (!row)
		return add_signal(a, lo, hi);
	if (a->end > a->start && a->end < lo)
		ret = sfg_add_hole(a->rows, a->end, lo);
	a->end = hi;
	a->sum->go_bytes += hi - lo;
	return ret ? ret : sfg_add_row(a->rows, lo, hi, exact ?
				       SFJIT_FUNCTION_SIGNAL : 0, row);
}

static const uint8_t *read_range(const struct go_code *code, uint64_t addr,
				 size_t len)
{
	return sfg_text_at(code->in, code->range, addr, len);
}

/* Padding up to the next function is no code. */
static uint64_t gap_after(const struct sfg_input *in,
			  const struct sfg_image *range, uint64_t lo,
			  uint64_t hi)
{
	const uint8_t *p = hi - lo <= SFG_READ_MAX ?
			   sfg_text_at(in, range, lo, hi - lo) : NULL;

	return p && sfg_padding(in->abi, p, hi - lo) == hi - lo ? hi - lo : 0;
}

int sfg_add_go(const struct sfg_input *in, const struct sfg_image *range,
	       uint64_t lo, uint64_t hi, struct sfg_builder *rows,
	       struct sfg_summary *sum)
{
	const struct go_code code = { read_range, in, range };
	struct adder a = {
		.sink.row = add_go_row, .rows = rows, .sum = sum, .end = lo,
	};
	struct go_function f;
	uint32_t i;
	int ret = 0;
	bool good;

	/* The text may begin before its first function. */
	if (!sfg_go_find(in->go, lo, &i))
		i = 0;
	for (; i < in->go->nr && !ret; i++) {
		good = sfg_go_function(in->go, i, &f);
		/* Also of damaged ones: gaps do not share what is tried. */
		if (f.start >= hi)
			break;
		if (!good || f.start < lo)
			continue;
		if (f.end > hi)
			break;
		sum->go_functions++;
		sfg_close_range(rows);
		a.start = f.start;
		ret = sfg_go_rows(in->go, &f, &code, &a.sink);
		if (a.end > f.start && a.end < f.end)
			sum->bare_bytes -= gap_after(in, range, a.end, f.end);
	}
	sfg_close_range(rows);
	return ret;
}

/* ---- One address -------------------------------------------------------- */

struct finder {
	struct go_sink sink;
	uint64_t addr;
	struct sfjit_row *row;
	bool *exact;
	bool found;
};

/* The sink is the first member. */
static int find_go_fde_row(struct go_sink *sink, uint64_t lo, uint64_t hi,
			   bool exact, const struct sfjit_row *row)
{
	struct finder *finder = (struct finder *)sink;

	if (finder->addr < lo || finder->addr >= hi || !row)
		return 0;
	*finder->row = *row;
	*finder->exact = exact;
	finder->found = true;
	return 0;
}

static const uint8_t *read_image(const struct go_code *code, uint64_t addr,
				 size_t len)
{
	const struct sfg_image *image = code->range;

	if (addr < image->addr || addr - image->addr > image->len ||
	    len > image->len - (addr - image->addr))
		return NULL;
	return (const uint8_t *)image->data + (addr - image->addr);
}

static int function_at(const struct sfg_go *go, uint64_t addr,
		       struct go_function *f)
{
	uint32_t index;

	return sfg_go_find(go, addr, &index) && sfg_go_function(go, index, f) ?
	       0 : -ENOENT;
}

int sfg_go_function_at(const struct sfg_go *go, uint64_t addr,
		       struct sfg_image *function)
{
	struct go_function f;
	int ret = function_at(go, addr, &f);

	if (!ret)
		*function = (struct sfg_image) {
			.addr = f.start, .len = f.end - f.start,
		};
	return ret;
}

int sfg_find_go_row(const struct sfg_go *go, const struct sfg_image *code,
		    uint64_t addr, struct sfjit_row *row, bool *exact)
{
	const struct sfg_input in = { .flags = SFG_INPUT_ADDENDS };
	const struct go_code read = { read_image, &in, code };
	struct finder finder = {
		.sink.row = find_go_fde_row, .addr = addr, .row = row,
		.exact = exact,
	};
	struct go_function f;
	int ret = function_at(go, addr, &f);

	if (!ret)
		ret = sfg_go_rows(go, &f, &read, &finder.sink);
	if (ret)
		return ret;
	row->start = 0;
	return finder.found ? 0 : -ENODATA;
}
