// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <flow/bare.h>

#include "amend.h"

/* Longer stretches without call frame information get no window. */
#define LONGEST_GAP	(64UL << 10)

static const struct sfjit_row leaf_row = BARE_LEAF_ROW;

struct list {
	struct sfjit_function *functions;
	size_t nr, room;
};

static int add(struct list *list, const struct sfjit_function *function)
{
	size_t more = list->room ? 2 * list->room : 64;
	struct sfjit_function *bigger = list->functions;

	if (list->nr == list->room) {
		bigger = realloc(bigger, more * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		list->functions = bigger;
		list->room = more;
	}
	list->functions[list->nr++] = *function;
	return 0;
}

/* Bytes of text at an address, and how many there are; NULL: not readable. */
static const uint8_t *text_at(const struct sfg_input *in, uint64_t address,
			      uint64_t *length)
{
	const struct sfg_image *text = in->text;

	for (; text < in->text + in->nr_text; text++) {
		if (address < text->addr || address - text->addr >= text->len)
			continue;
		*length = text->len - (address - text->addr);
		return text->data ? (const uint8_t *)text->data +
				    (address - text->addr) : NULL;
	}
	return NULL;
}

static int add_leaves(struct list *list, const struct sfg_input *in,
		      uint64_t start, uint64_t end)
{
	struct bare_range *ranges;
	uint64_t length;
	const uint8_t *text = text_at(in, start, &length);
	size_t nr, i;
	int ret;

	if (!text)
		return 0;
	if (length > end - start)
		length = end - start;
	if (length >= LONGEST_GAP ||
	    sfg_padding(in->abi, text, length) == length)
		return 0;
	ret = bare_leaves(text, length, &ranges, &nr);
	if (ret)
		return ret;
	for (i = 0; !ret && i < nr; i++)
		ret = add(list, &(struct sfjit_function) {
			.addr = start + ranges[i].start,
			.size = ranges[i].end - ranges[i].start,
			.nr_rows = 1, .rows = &leaf_row,
		});
	free(ranges);
	return ret;
}

/*
 * Between functions with call frame information, whether or not that can be
 * expressed, and behind the last of a range of text.
 */
static int find_leaves(struct list *leaves, const struct sfg_input *in)
{
	const struct sfg_image *text = in->text, *f;
	struct sfg_image *list;
	uint64_t at, end;
	size_t nr;
	int ret;

	ret = sfg_list_functions(in, &list, &nr, NULL);
	if (ret)
		return ret;
	f = list;
	for (; !ret && text < in->text + in->nr_text; text++) {
		at = text->addr;
		end = text->addr + text->len;
		for (; !ret && f < list + nr && f->addr < end; f++) {
			if (f->addr > at)
				ret = add_leaves(leaves, in, at, f->addr);
			if (f->addr + f->len > at)
				at = f->addr + f->len;
		}
		if (!ret && at < end)
			ret = add_leaves(leaves, in, at, end);
	}
	free(list);
	return ret;
}

/* The row at which the function's rows are true again; 0: they always are. */
static uint32_t find_false(const struct sfg_input *in,
			   const struct sfjit_function *f, uint32_t *from)
{
	const uint8_t *text;
	uint64_t length;
	uint32_t i;

	for (i = 1; !f->repeat && i < f->nr_rows; i++) {
		text = text_at(in, f->addr, &length);
		if (text && length >= f->size &&
		    bare_resumes(&f->rows[i], text, f->size, from))
			return i;
	}
	return 0;
}

/* The rows are the converter's, and nobody else's yet. */
static int add_cut(struct list *list, const struct sfjit_function *f,
		   uint32_t from, uint32_t first)
{
	struct sfjit_row *rows = (struct sfjit_row *)f->rows;
	struct sfjit_function before = *f, behind = *f;
	uint32_t to = rows[first].start, i;
	int ret;

	while (before.nr_rows && rows[before.nr_rows - 1].start >= from)
		before.nr_rows--;
	before.size = from;
	behind.addr += to;
	behind.size -= to;
	behind.rows += first;
	behind.nr_rows -= first;
	for (i = first; i < f->nr_rows; i++)
		rows[i].start -= to;
	ret = add(list, &before);
	return ret ? ret : add(list, &behind);
}

static int add_true(struct list *list, const struct sfg_input *in,
		    const struct sfjit_function *f)
{
	uint32_t from, first = find_false(in, f, &from);

	return first ? add_cut(list, f, from, first) : add(list, f);
}

/* All rows in the order of their functions, as the converter wants them. */
static int collect_rows(const struct list *list, struct sfjit_row **rows)
{
	struct sfjit_function *f;
	struct sfjit_row *to;
	size_t nr = 1;

	for (f = list->functions; f < list->functions + list->nr; f++)
		nr += f->nr_rows;
	to = *rows = malloc(nr * sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (f = list->functions; f < list->functions + list->nr; f++) {
		memcpy(to, f->rows, f->nr_rows * sizeof(*to));
		f->rows = to;
		to += f->nr_rows;
	}
	return 0;
}

int amend_functions(const struct sfg_input *in, struct sfg_fdes *fdes)
{
	struct list leaves = { 0 }, all = { 0 };
	struct sfjit_row *rows = NULL;
	size_t i, next = 0;
	int ret;

	ret = find_leaves(&leaves, in);
	for (i = 0; !ret && i < fdes->nr; i++) {
		while (!ret && next < leaves.nr &&
		       leaves.functions[next].addr < fdes->fdes[i].addr)
			ret = add(&all, &leaves.functions[next++]);
		if (!ret)
			ret = add_true(&all, in, &fdes->fdes[i]);
	}
	while (!ret && next < leaves.nr)
		ret = add(&all, &leaves.functions[next++]);
	free(leaves.functions);
	if (!ret && all.nr)
		ret = collect_rows(&all, &rows);
	if (ret || !all.nr) {
		free(all.functions);
		return ret;
	}
	sfg_free_fdes(fdes);
	*fdes = (struct sfg_fdes) {
		.fdes = all.functions, .nr = all.nr, .rows = rows,
	};
	return 0;
}
