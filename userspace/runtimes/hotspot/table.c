// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Areas for code heaps, and all code in them. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <grow.h>
#include <sfjit/area.h>

#include "table.h"

/* Most of a heap is never used, and compiled methods are long. */
#define BLOCKS_SHARE	4

/* @area: NULL until it has succeeded to make one */
struct heap {
	uintptr_t		start;
	uintptr_t		end;
	struct sfjit_area	*area;
};

/* Codes are sorted. */
static struct heap *heaps;
static size_t nr_heaps;
static struct table_code *codes;
static size_t nr_codes, max_codes;
static unsigned long nr_tables;
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

static struct heap *heap_of(uintptr_t at)
{
	size_t i;

	for (i = 0; i < nr_heaps; i++)
		if (at >= heaps[i].start && at < heaps[i].end)
			return &heaps[i];
	return NULL;
}

/* ---- Areas ------------------------------------------------------------ */

static bool is_row(const struct sfjit_row *row)
{
	return row->cfa.base != SFJIT_BASE_NONE;
}

/* How many rows from @first on are without a hole between them. */
static size_t nr_together(const struct table_code *code, size_t first)
{
	size_t i = first;

	while (i < code->nr_rows && is_row(&code->rows[i]))
		i++;
	return i - first;
}

static int grow(struct heap *heap)
{
	int ret = sfjit_area_grow(heap->area, NULL, 0, 0, 0);

	nr_tables += !ret;
	return ret;
}

static int publish_function(struct heap *heap,
			    const struct sfjit_function *function)
{
	int ret = sfjit_area_publish(heap->area, function);

	if (ret == -ENOSPC) {
		ret = grow(heap);
		if (!ret)
			ret = sfjit_area_publish(heap->area, function);
	}
	return ret;
}

/* Publishes rows [first, first + nr) as a function; @rows has space for them. */
static int publish_rows(struct heap *heap, const struct table_code *code,
			size_t first, size_t nr, struct sfjit_row *rows)
{
	uint32_t base = code->rows[first].start, end = code->end - code->start;
	struct sfjit_function function = {
		.addr = code->start + base, .nr_rows = nr, .rows = rows,
	};
	size_t i;

	if (first + nr < code->nr_rows)
		end = code->rows[first + nr].start;
	function.size = end - base;
	for (i = 0; i < nr; i++) {
		rows[i] = code->rows[first + i];
		rows[i].start -= base;
	}
	return publish_function(heap, &function);
}

/* Each stretch between two holes is a function of the area. */
static int publish_code(struct heap *heap, const struct table_code *code)
{
	struct sfjit_row *rows = malloc((code->nr_rows + 1) * sizeof(*rows));
	size_t i, nr;
	int ret = 0;

	if (!rows)
		return -ENOMEM;
	for (i = 0; i < code->nr_rows && !ret; i += nr + 1) {
		nr = nr_together(code, i);
		if (nr)
			ret = publish_rows(heap, code, i, nr, rows);
	}
	free(rows);
	return ret;
}

static int publish_all(struct heap *heap)
{
	int ret = 0;
	size_t i;

	for (i = first_behind(heap->start);
	     i < nr_codes && codes[i].start < heap->end && !ret; i++)
		ret = publish_code(heap, &codes[i]);
	return ret;
}

/* Stale rows would be wrong: remove a window that cannot be changed. */
static void close_area(struct heap *heap, int error)
{
	last_error = error;
	sfjit_area_retire(heap->area);
	heap->area = NULL;
}

/* With all code that is there. */
static void open_area(struct heap *heap)
{
	struct sfjit_area_info info;
	size_t length = heap->end - heap->start;
	int ret;

	ret = sfjit_area_create((void *)heap->start, length, 0,
				length / BLOCKS_SHARE + 1, &heap->area);
	if (ret) {
		last_error = ret;
		return;
	}
	nr_tables++;
	sfjit_area_stat(heap->area, &info);
	ret = info.error ? info.error : publish_all(heap);
	if (ret)
		close_area(heap, ret);
}

/* After it was added to the codes. */
static void code_is_new(const struct table_code *code)
{
	struct heap *heap = heap_of(code->start);
	int ret;

	if (!heap)
		return;
	if (!heap->area) {
		open_area(heap);
		return;
	}
	ret = publish_code(heap, code);
	if (ret)
		close_area(heap, ret);
}

static void code_is_gone(const struct table_code *code)
{
	struct heap *heap = heap_of(code->start);
	size_t length = code->end - code->start;
	int ret;

	if (!heap || !heap->area)
		return;
	ret = sfjit_area_reset(heap->area, (void *)code->start, length);
	if (ret == -ENOSPC && !grow(heap))
		ret = sfjit_area_reset(heap->area, (void *)code->start, length);
	if (ret)
		close_area(heap, ret);
}

/* ---- Heaps ----------------------------------------------------------- */

int table_add_heap(uintptr_t low, uintptr_t high)
{
	struct heap *new = realloc(heaps, (nr_heaps + 1) * sizeof(*new));

	if (!new)
		return -ENOMEM;
	heaps = new;
	heaps[nr_heaps] = (struct heap){ .start = low, .end = high };
	open_area(&heaps[nr_heaps++]);
	return 0;
}

/* ---- Code ------------------------------------------------------------ */

static void remove_code_at(size_t i)
{
	struct table_code old = codes[i];

	nr_codes--;
	memmove(codes + i, codes + i + 1, (nr_codes - i) * sizeof(*codes));
	code_is_gone(&old);
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
		.addr = 4096, .size = 1, .nr_rows = 1, .rows = &first,
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
	for (i = first_behind(code->start);
	     i < nr_codes && codes[i].start < code->end; )
		remove_code_at(i);
	memmove(codes + i + 1, codes + i, (nr_codes - i) * sizeof(*codes));
	codes[i] = *code;
	make_holes(codes[i].rows, codes[i].nr_rows);
	nr_codes++;
	code_is_new(code);
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

	while (i < nr_codes) {
		if (codes[i].method.blob && !is_used(&codes[i].method))
			remove_code_at(i);
		else
			i++;
	}
}

void table_stat(struct table_stat *stat)
{
	struct sfjit_area_info info;
	size_t i;

	*stat = (struct table_stat){
		.codes = nr_codes, .tables = nr_tables, .error = last_error,
	};
	for (i = 0; i < nr_heaps; i++) {
		if (!heaps[i].area)
			continue;
		sfjit_area_stat(heaps[i].area, &info);
		stat->windows++;
		stat->bytes += info.length - info.room;
	}
}
