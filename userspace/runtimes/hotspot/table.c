// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Windows for pieces of code heaps, replaced when the code changes. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <grow.h>
#include <sfjit/format.h>

#include "table.h"

/*
 * Bytes of text in a window. Smaller pieces make many windows, most of them for
 * code that never comes; larger ones make each change more expensive.
 */
#define PIECE		(256ul << 10)

/* The kernel's limit of rows per function. */
#define MAX_ROWS	64

struct piece {
	uintptr_t	start;
	uintptr_t	end;
	void		*section;	/* NULL: registered without functions */
	size_t		length;
	bool		dirty;
};

/* Sorted: the pieces of all heaps, and all code. */
static struct piece *pieces;
static size_t nr_pieces;
static struct table_code *codes;
static size_t nr_codes, max_codes;
static unsigned int held;
static unsigned long replaced;
static int last_error;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void table_lock(void)
{
	pthread_mutex_lock(&lock);
}

void table_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- Finding --------------------------------------------------------- */

/* The index of the first code that ends after @at. */
static size_t first_behind(uintptr_t at)
{
	size_t low = 0, high = nr_codes, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (codes[mid].end > at)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static struct piece *piece_behind(uintptr_t at)
{
	size_t low = 0, high = nr_pieces, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (pieces[mid].end > at)
			high = mid;
		else
			low = mid + 1;
	}
	return pieces + low;
}

/* ---- The section of a piece ------------------------------------------ */

struct builder {
	struct sfjit_function	*functions;
	size_t			nr, max;
	struct sfjit_row	*rows;
	size_t			nr_rows, max_rows;
	bool			open;	/* the next row may extend it */
	bool			no_memory;
};

static bool grow_builder(struct builder *b, void *array, size_t *max, size_t nr,
			 size_t size)
{
	b->no_memory |= !grow_array(array, max, nr, size);
	return !b->no_memory;
}

/* Until all rows are added, .rows is the number of the first row. */
static void add_table_function(struct builder *b, uintptr_t start)
{
	if (!grow_builder(b, &b->functions, &b->max, b->nr,
			  sizeof(*b->functions)))
		return;
	b->functions[b->nr++] = (struct sfjit_function){
		.addr = start,
		.rows = (const struct sfjit_row *)b->nr_rows,
	};
	b->open = true;
}

static void add_table_row(struct builder *b, const struct sfjit_row *row,
			  uintptr_t start, uintptr_t end)
{
	struct sfjit_function *function;

	if (!b->open || b->functions[b->nr - 1].nr_rows == MAX_ROWS)
		add_table_function(b, start);
	if (b->no_memory ||
	    !grow_builder(b, &b->rows, &b->max_rows, b->nr_rows,
			  sizeof(*b->rows)))
		return;
	function = b->functions + b->nr - 1;
	b->rows[b->nr_rows] = *row;
	b->rows[b->nr_rows++].start = start - function->addr;
	function->nr_rows++;
	function->size = end - function->addr;
}

static void add_table_code(struct builder *b, const struct table_code *code,
			   const struct piece *piece)
{
	uintptr_t start, end;
	size_t i;

	b->open = false;
	for (i = 0; i < code->nr_rows && !b->no_memory; i++) {
		start = code->start + code->rows[i].start;
		end = i + 1 < code->nr_rows ?
		      code->start + code->rows[i + 1].start : code->end;
		if (start < piece->start)
			start = piece->start;
		if (end > piece->end)
			end = piece->end;
		if (start >= end)
			continue;
		if (code->rows[i].cfa.base != SFJIT_BASE_NONE)
			add_table_row(b, code->rows + i, start, end);
		else
			b->open = false;
	}
}

static void collect_piece(struct builder *b, const struct piece *piece)
{
	size_t i;

	for (i = first_behind(piece->start);
	     i < nr_codes && codes[i].start < piece->end; i++)
		add_table_code(b, codes + i, piece);
	for (i = 0; i < b->nr; i++)
		b->functions[i].rows = b->rows +
				       (uintptr_t)b->functions[i].rows;
}

/* An empty section: write one function, but count none. */
static long fill_empty(void *section, size_t length, uintptr_t at)
{
	static const struct sfjit_row row = {
		.flags = SFJIT_ROW_OUTERMOST,
	};
	struct sfjit_function function = {
		.addr = at, .size = 1, .nr_rows = 1, .rows = &row,
	};
	struct sframe_header *header = section;
	long ret = sfjit_section_fill(section, length, &function, 1);

	if (ret < 0)
		return ret;
	header->num_fdes = header->num_fres = header->fre_len = 0;
	return ret;
}

static int make_section(struct builder *b, const struct piece *piece,
			void **section, size_t *length)
{
	long size = b->nr ? sfjit_section_size(b->functions, b->nr) : 64;

	if (size < 0)
		return size;
	*section = malloc(size);
	if (!*section)
		return -ENOMEM;
	size = b->nr ? sfjit_section_fill(*section, size, b->functions, b->nr) :
		       fill_empty(*section, size, piece->start);
	if (size < 0)
		free(*section);
	*length = size;
	return size < 0 ? size : 0;
}

/*
 * The old section stays until the registration succeeds: it describes code that
 * is gone.
 */
static int refresh(struct piece *piece)
{
	struct builder b = { };
	void *section = NULL;
	size_t length = 0;
	int ret;

	collect_piece(&b, piece);
	ret = b.no_memory ? -ENOMEM :
	      make_section(&b, piece, &section, &length);
	free(b.functions);
	free(b.rows);
	if (ret)
		return ret;
	ret = (piece->section ? sfjit_replace : sfjit_register)(piece->start,
			section, length, (void *)piece->start,
			piece->end - piece->start);
	if (ret) {
		free(section);
		return ret;
	}
	replaced++;
	free(piece->section);
	piece->section = section;
	piece->length = length;
	piece->dirty = false;
	return 0;
}

/* Stale rows would be wrong: remove a window that cannot be replaced. */
static void refresh_or_end(struct piece *piece)
{
	int ret = refresh(piece);

	if (!ret)
		return;
	last_error = ret;
	if (!piece->section)
		return;
	sfjit_unregister(piece->start);
	free(piece->section);
	piece->section = NULL;
}

static void change_range(uintptr_t start, uintptr_t end)
{
	struct piece *piece = piece_behind(start);

	for (; piece < pieces + nr_pieces && piece->start < end; piece++) {
		piece->dirty = true;
		if (!held)
			refresh_or_end(piece);
	}
}

void table_hold(void)
{
	held++;
}

void table_release(void)
{
	size_t i;

	if (--held)
		return;
	for (i = 0; i < nr_pieces; i++)
		if (pieces[i].dirty)
			refresh_or_end(pieces + i);
}

/* ---- Heaps ----------------------------------------------------------- */

static int compare_heap_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int table_add_heap(uintptr_t low, uintptr_t high)
{
	size_t more = (high - low + PIECE - 1) / PIECE;
	struct piece *new;

	new = realloc(pieces, (nr_pieces + more) * sizeof(*new));
	if (!new)
		return -ENOMEM;
	pieces = new;
	for (; low < high; low += PIECE)
		pieces[nr_pieces++] = (struct piece){
			.start = low,
			.end = high - low < PIECE ? high : low + PIECE,
			.dirty = true,
		};
	qsort(pieces, nr_pieces, sizeof(*pieces), compare_heap_pieces);
	return 0;
}

/* ---- Code ------------------------------------------------------------ */

static void remove_code_at(size_t i)
{
	struct table_code old = codes[i];

	nr_codes--;
	memmove(codes + i, codes + i + 1, (nr_codes - i) * sizeof(*codes));
	change_range(old.start, old.end);
	free(old.rows);
}

/*
 * The kernel refuses sections with rows that no walk can use. After the return
 * address was popped into a register, the CFA is the stack pointer.
 */
static bool is_usable(const struct sfjit_row *row)
{
	struct sfjit_row first = *row;
	const struct sfjit_function function = {
		.addr = PIECE, .size = 1, .nr_rows = 1, .rows = &first,
	};

	first.start = 0;
	return sfjit_section_size(&function, 1) > 0;
}

static void make_holes(struct sfjit_row *rows, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (rows[i].cfa.base != SFJIT_BASE_NONE && !is_usable(rows + i))
			rows[i].cfa.base = SFJIT_BASE_NONE;
}

int table_add(const struct table_code *code)
{
	size_t i;

	if (!grow_array(&codes, &max_codes, nr_codes, sizeof(*codes)))
		return -ENOMEM;
	held++;
	for (i = first_behind(code->start);
	     i < nr_codes && codes[i].start < code->end; )
		remove_code_at(i);
	memmove(codes + i + 1, codes + i, (nr_codes - i) * sizeof(*codes));
	codes[i] = *code;
	make_holes(codes[i].rows, codes[i].nr_rows);
	nr_codes++;
	held--;
	change_range(code->start, code->end);
	return 0;
}

uint64_t table_sum(uintptr_t start, uintptr_t end)
{
	uint64_t sum = end - start, word = 0;

	for (; end - start >= sizeof(word); start += sizeof(word)) {
		memcpy(&word, (const void *)start, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
		sum ^= sum >> 32;
	}
	word = 0;
	memcpy(&word, (const void *)start, end - start);
	return (sum ^ word) * 0x9e3779b97f4a7c15ull;
}

bool table_has(const struct vm_method *method, bool installed)
{
	size_t i = first_behind(method->begin);

	if (i == nr_codes || codes[i].start != method->begin ||
	    codes[i].method.blob != method->blob ||
	    codes[i].method.compile_id != method->compile_id)
		return false;
	if (!codes[i].made)
		return true;
	if (!vm_same(&codes[i].method, method) ||
	    codes[i].sum != table_sum(method->begin, method->end))
		return false;
	codes[i].made = !installed;
	return true;
}

void table_remove(uintptr_t start, table_filter stays)
{
	size_t i = first_behind(start);

	if (i < nr_codes && codes[i].start == start &&
	    !(codes[i].method.blob && stays(&codes[i].method)))
		remove_code_at(i);
}

void table_remove_unused(table_filter is_used)
{
	size_t i = 0;

	table_hold();
	while (i < nr_codes) {
		if (codes[i].method.blob && !is_used(&codes[i].method))
			remove_code_at(i);
		else
			i++;
	}
	table_release();
}

void table_stat(struct table_stat *stat)
{
	size_t i;

	*stat = (struct table_stat){
		.codes = nr_codes, .replaced = replaced, .error = last_error,
	};
	for (i = 0; i < nr_pieces; i++) {
		stat->windows += pieces[i].section != NULL;
		stat->bytes += pieces[i].length;
	}
}
