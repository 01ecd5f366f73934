// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <grow.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bare.h>

#include "amend.h"
#include "code.h"

/* Longer stretches without call frame information get no window. */
#define LONGEST_GAP	(64UL << 10)

struct rows {
	struct rows *next;
	struct sfjit_row rows[];
};

struct list {
	struct sfjit_function *functions;
	size_t nr, max;
	struct rows *copies;
};

static int list_function(struct list *list,
			 const struct sfjit_function *function)
{
	if (!grow_array(&list->functions, &list->max, list->nr,
			sizeof(*list->functions)))
		return -ENOMEM;
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

static int add_leaf(struct list *list, uint64_t start,
		    const struct bare_range *range)
{
	bool signal = range->row == BARE_SIGNAL;

	return list_function(list, &(struct sfjit_function) {
		.addr = start + range->start,
		.size = range->end - range->start,
		.nr_rows = !signal,
		.rows = &bare_rows[signal ? 0 : range->row],
		.flags = signal ? SFJIT_FUNCTION_SIGNAL : 0,
	});
}

/* Classify the bytes at an address. */
static int classify_bytes(struct list *list, uint64_t start,
			  const uint8_t *text, uint32_t length, bool links)
{
	struct bare_range *ranges;
	size_t nr, i;
	int ret = bare_leaves(text, length, links, &ranges, &nr);

	if (ret)
		return ret;
	for (i = 0; !ret && i < nr; i++)
		ret = add_leaf(list, start, &ranges[i]);
	free(ranges);
	return ret;
}

/*
 * Only linkage tables have no code before them to look at: they precede all
 * functions.
 */
static int add_links(struct list *list, uint64_t start, const uint8_t *text,
		     uint64_t length)
{
	uint64_t from = length - LONGEST_GAP;

	return classify_bytes(list, start + from, text + from, LONGEST_GAP,
			      true);
}

static int add_leaves(struct list *list, const struct sfg_input *in,
		      uint64_t start, uint64_t end)
{
	uint64_t length;
	const uint8_t *text = text_at(in, start, &length);

	if (!text)
		return 0;
	if (length > end - start)
		length = end - start;
	if (length >= LONGEST_GAP)
		return add_links(list, start, text, length);
	if (sfg_padding(in->abi, text, length) == length)
		return 0;
	return classify_bytes(list, start, text, length, false);
}

static bool is_unknown_signal(const struct sfg_input *in, uint64_t address,
			      uint64_t size)
{
	uint64_t length;
	const uint8_t *text = text_at(in, address, &length);

	return text && bare_signal(text, size < length ? size : length);
}

/*
 * Gaps between functions with call frame information, whether or not rows can
 * express it, and after the last in a range of text. A function that returns
 * from signals without an 'S' counts as one without CFI.
 */
static int find_leaves(struct list *leaves, const struct sfg_input *in)
{
	const struct sfg_image *text = in->text, *f;
	struct sfg_image *list;
	uint64_t at, end;
	size_t nr;
	int ret;

	if (!bare_nr_rows)
		return 0;
	ret = sfg_list_functions(in, &list, &nr, NULL);
	if (ret)
		return ret;
	f = list;
	for (; !ret && text < in->text + in->nr_text; text++) {
		at = text->addr;
		end = text->addr + text->len;
		for (; !ret && f < list + nr && f->addr < end; f++) {
			if (is_unknown_signal(in, f->addr, f->len))
				continue;
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

/* Rows of a part: those of the function, counted from where it begins. */
static struct sfjit_row *copy_part_rows(struct list *list,
					const struct sfjit_function *f,
					struct sfjit_function *part,
					uint32_t from)
{
	struct rows *copy = malloc(sizeof(*copy) +
				   f->nr_rows * sizeof(*copy->rows));
	uint32_t i, n = 0;

	if (!copy)
		return NULL;
	copy->next = list->copies;
	list->copies = copy;
	for (i = 0; i < f->nr_rows && f->rows[i].start < from + part->size;
	     i++) {
		/* The last row before it holds at its beginning. */
		if (f->rows[i].start <= from)
			n = 0;
		copy->rows[n] = f->rows[i];
		copy->rows[n].start -= n ? from : f->rows[i].start;
		n++;
	}
	part->nr_rows = n;
	return copy->rows;
}

static int add_part(struct list *list, const struct sfjit_function *f,
		    uint32_t from, uint32_t to)
{
	struct sfjit_function part = *f;

	if (from >= to)
		return 0;
	part.addr += from;
	part.size = to - from;
	part.rows = copy_part_rows(list, f, &part, from);
	return part.rows ? list_function(list, &part) : -ENOMEM;
}

/* Only the converter has used the rows so far. */
static int add_true(struct list *list, const struct sfg_input *in,
		    const struct sfjit_function *f)
{
	struct bare_range ranges[BARE_FALSE_MAX];
	uint64_t length;
	const uint8_t *text = text_at(in, f->addr, &length);
	size_t nr = 0, i;
	uint32_t at = 0;
	int ret = 0;

	if (is_unknown_signal(in, f->addr, f->size))
		return 0;
	bare_correct((struct sfjit_row *)f->rows, f->nr_rows);
	if (!f->repeat && text && length >= f->size)
		nr = bare_false(f, text, ranges);
	if (!nr)
		return list_function(list, f);
	for (i = 0; !ret && i < nr; i++) {
		ret = add_part(list, f, at, ranges[i].start);
		at = ranges[i].end;
	}
	return ret ? ret : add_part(list, f, at, f->size);
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
	struct rows *copy;
	size_t i, next = 0;
	int ret;

	ret = find_leaves(&leaves, in);
	for (i = 0; !ret && i < fdes->nr; i++) {
		while (!ret && next < leaves.nr &&
		       leaves.functions[next].addr < fdes->fdes[i].addr)
			ret = list_function(&all, &leaves.functions[next++]);
		if (!ret)
			ret = add_true(&all, in, &fdes->fdes[i]);
	}
	while (!ret && next < leaves.nr)
		ret = list_function(&all, &leaves.functions[next++]);
	free(leaves.functions);
	if (!ret && all.nr)
		ret = collect_rows(&all, &rows);
	for (; all.copies; all.copies = copy) {
		copy = all.copies->next;
		free(all.copies);
	}
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

static const struct sfjit_row entry = CODE_JUMP_ROW;

/* Does the CFA start from the stack pointer at the first instruction? */
static bool starts_from_sp(const struct sfjit_function *f)
{
	const struct sfjit_row *row = f->rows;

	return f->nr_rows && !(row->flags & ~SFJIT_ROW_RBX) && !row->cfa.deref &&
	       row->cfa.base == entry.cfa.base &&
	       row->cfa.reg == entry.cfa.reg;
}

/*
 * Less than a return address is nowhere: PHP says of its stubs, which run in the
 * same frame as its other code, that there is nothing.
 */
static bool is_false(const struct sfjit_function *f)
{
	return starts_from_sp(f) && f->rows->cfa.offset < entry.cfa.offset;
}

/* From its first instruction on there is more than a return address. */
static bool is_borrowed(const struct sfjit_function *f)
{
	const struct sfjit_row *row = f->rows;

	if (!starts_from_sp(f) || row->cfa.offset <= entry.cfa.offset)
		return false;
	for (; row < f->rows + f->nr_rows; row++)
		if (row->fp.base != SFJIT_BASE_NONE)
			return false;
	return true;
}

/*
 * No rule says that it is unknown. An odd value does: the kernel ends a walk at
 * a frame that is not aligned.
 */
static struct sfjit_rule unknown(void)
{
	return sfjit_rule_reg(entry.cfa.reg, 1);
}

static void remove_false(struct sfg_fdes *fdes)
{
	size_t i, kept = 0;

	for (i = 0; i < fdes->nr; i++)
		if (!is_false(&fdes->fdes[i]))
			fdes->fdes[kept++] = fdes->fdes[i];
	fdes->nr = kept;
}

/* Such rows tell neither the caller's frame pointer nor its rbx. */
static void lose_registers(struct sfjit_row *row)
{
	if (row->flags & SFJIT_ROW_OUTERMOST)
		return;
	row->fp = unknown();
	row->flags &= ~SFJIT_ROW_RBX;
}

int amend_borrowed(const struct sfg_input *in, struct sfg_fdes *fdes)
{
	struct sfjit_row *row;
	size_t i;

	remove_false(fdes);
	for (i = 0; i < fdes->nr; i++) {
		if (!is_borrowed(&fdes->fdes[i]))
			continue;
		/* All rows of 'fdes' are in its array. */
		row = fdes->rows + (fdes->fdes[i].rows - fdes->rows);
		for (; row < fdes->fdes[i].rows + fdes->fdes[i].nr_rows; row++)
			lose_registers(row);
	}
	return 0;
}
