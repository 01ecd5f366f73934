// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Areas: publish and withdraw functions in any order.
 *
 * The text is divided into granules. Each granule has one index entry of a live
 * section, and all entries are counted from the beginning. The kernel takes the
 * last entry that starts at or before an address:
 *
 * - An unused entry starts at the end of its granule and has size 0, so it
 *   matches no address of its granule.
 * - All granules from the one where a function starts to the one before it ends
 *   hold the same entry, that of the function. Another function may start in
 *   the granule where it ends.
 *
 * An entry changes by two stores: the start, and the size with the rows. Each
 * store keeps the index sorted, and the size is 0 while the start changes. So a
 * walk on another CPU always finds a published function whole. No two functions
 * share an entry or rows, so nothing is locked.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <sframegen.h>

#include "live_section.h"
#include "pieces.h"

/* The kernel reads at most SFJIT_MAX_ROWS rows of an entry. */
#define MIN_GRANULE	16
#define MAX_GRANULE	SFJIT_MAX_ROWS

/* A flag in @sizes; no area has that many bytes. */
#define IS_LONG		(1u << 31)

/* Defaults, and the usual size of a row. */
#define USUAL_ROWS	14
#define ROW_BYTES	4
#define MAX_ROWS	1024

/* The kernel reads the start, then size and rows by one load. */
struct entry {
	int64_t start;
	uint64_t rest;
};

/*
 * @row_bytes: of each granule; the granules of a function are adjacent
 * @sizes: bytes of the function that starts in each granule, 0 for none; with
 * IS_LONG if it has several entries that differ
 */
struct sfjit_area {
	struct sfjit_live_section section;
	uint32_t	*sizes;
	uintptr_t	text;
	size_t		text_length;
	uint32_t	nr;
	uint32_t	row_bytes;
	unsigned int	shift;
	int		error;
};

static struct entry *entry_of(const struct sfjit_area *area, uint32_t granule)
{
	return (struct entry *)(area->section.start + SFJIT_INDEX_OFFSET) +
	       granule;
}

static unsigned char *rows_of(const struct sfjit_area *area, uint32_t granule)
{
	return (unsigned char *)entry_of(area, area->nr) +
	       (size_t)granule * area->row_bytes;
}

static uint32_t granule_of(const struct sfjit_area *area, uintptr_t address)
{
	return (address - area->text) >> area->shift;
}

static uintptr_t start_of_granule(const struct sfjit_area *area,
				  uint32_t granule)
{
	return area->text + ((uintptr_t)granule << area->shift);
}

/*
 * Other threads publish concurrently. Acquire and release keep the order of
 * their stores.
 */
static uint32_t size_at(const struct sfjit_area *area, uint32_t granule)
{
	return __atomic_load_n(&area->sizes[granule], __ATOMIC_ACQUIRE);
}

static void set_size(struct sfjit_area *area, uint32_t granule, uint32_t size)
{
	__atomic_store_n(&area->sizes[granule], size, __ATOMIC_RELEASE);
}

static void set_start(struct entry *entry, uintptr_t start)
{
	__atomic_store_n(&entry->start, start - (uintptr_t)entry,
			 __ATOMIC_RELEASE);
}

static uintptr_t start_in(const struct entry *entry)
{
	return __atomic_load_n(&entry->start, __ATOMIC_ACQUIRE) +
	       (uintptr_t)entry;
}

union rest {
	struct {
		uint32_t size, fre_off;
	};
	uint64_t load;
};

static void set_rest(struct entry *entry, uint32_t size, uint32_t fre_off)
{
	union rest rest = { .size = size, .fre_off = fre_off };

	__atomic_store_n(&entry->rest, rest.load, __ATOMIC_RELEASE);
}

static uint32_t size_in(const struct entry *entry)
{
	union rest rest = {
		.load = __atomic_load_n(&entry->rest, __ATOMIC_ACQUIRE)
	};

	return rest.size;
}

static void clear_entry(struct sfjit_area *area, uint32_t granule)
{
	struct entry *entry = entry_of(area, granule);

	set_rest(entry, 0, 0);
	set_start(entry, start_of_granule(area, granule + 1));
}

/* ---- Making one ------------------------------------------------------ */

static void fill_section(struct sfjit_area *area)
{
	struct sframe_header *header = (void *)area->section.start;
	uint32_t i;

	/*
	 * For other readers: the kernel accepts any fre_len in a live section.
	 */
	header->fre_len = area->nr * area->row_bytes;
	for (i = 0; i < area->nr; i++)
		clear_entry(area, i);
	header->num_fdes = area->nr;
}

/* @sizes lies after the section, where the kernel does not look. */
static int map_section(struct sfjit_area *area)
{
	const struct sfjit_live_section *section = &area->section;
	int ret = sfjit_map_live(&area->section, area->nr,
				 (uint64_t)area->nr * area->row_bytes,
				 (size_t)area->nr * sizeof(*area->sizes));

	if (ret)
		return ret;
	area->sizes = (uint32_t *)(section->start + section->mapped) - area->nr;
	fill_section(area);
	return 0;
}

struct request {
	const void	*text;
	size_t		length;
	unsigned int	granule, rows;
};

static int init_area(void *object, const void *how)
{
	const struct request *request = how;
	size_t nr = (request->length - 1) / request->granule + 1;
	struct sfjit_area *area = object;
	int ret;

	if (nr > SFJIT_MAX_ENTRIES || request->rows > MAX_ROWS)
		return -E2BIG;
	area->text = (uintptr_t)request->text;
	area->text_length = request->length;
	area->nr = nr;
	area->shift = __builtin_ctz(request->granule);
	area->row_bytes = sizeof(struct sframe_fde_attr) +
			  request->rows * ROW_BYTES;
	area->row_bytes = (area->row_bytes + 15) & ~15U;
	ret = map_section(area);
	if (ret)
		return ret;
	area->error = sfjit_register_live(area->text, area->section.start,
					  area->section.length, request->text,
					  request->length, false);
	return 0;
}

static bool is_granule(unsigned int granule)
{
	return granule >= MIN_GRANULE && granule <= MAX_GRANULE &&
	       !(granule & (granule - 1));
}

int sfjit_area_create(const void *text, size_t length, unsigned int granule,
		      unsigned int rows, struct sfjit_area **result)
{
	const struct request request = {
		text, length, granule ? granule : MAX_GRANULE,
		rows ? rows : USUAL_ROWS,
	};

	if (!result || !text || !length || sfjit_wraps(text, length) ||
	    !is_granule(request.granule) || (uintptr_t)text % request.granule)
		return -EINVAL;
	return sfjit_create(sizeof(**result), init_area, &request, result);
}

/* ---- Functions come and go ------------------------------------------- */

/* The granules whose entries belong to a function. */
struct span {
	uint32_t first, end;
};

/* The entries of a long function differ, so it also needs its last granule. */
static struct span span_of(const struct sfjit_area *area, uintptr_t start,
			   size_t size, bool is_long)
{
	uint32_t first = granule_of(area, start);
	uint32_t last = granule_of(area, start + size - 1);

	if (is_long || last == first)
		last++;
	return (struct span){ first, last };
}

static bool is_long(const struct sfjit_function *function)
{
	return function->nr_rows > SFJIT_MAX_ROWS;
}

static bool is_inside(const struct sfjit_area *area, uint64_t start,
		      size_t size)
{
	return start >= area->text &&
	       start - area->text < area->text_length &&
	       size <= area->text_length - (start - area->text);
}

/*
 * Whether the function of this entry covers the address. It may be withdrawn
 * meanwhile, so the start is read before and after the size.
 */
static bool covers(const struct sfjit_area *area, uint32_t granule,
		   uintptr_t address)
{
	const struct entry *entry = entry_of(area, granule);
	uintptr_t start;
	uint32_t size;

	do {
		start = start_in(entry);
		size = size_in(entry);
	} while (start_in(entry) != start);
	return size && start + size > address;
}

static int check_place(const struct sfjit_area *area,
		       const struct sfjit_function *function)
{
	struct span span;
	uint32_t i;

	if (!function->size ||
	    !is_inside(area, function->addr, function->size))
		return -EINVAL;
	span = span_of(area, function->addr, function->size, is_long(function));
	if (span.first && covers(area, span.first - 1, function->addr))
		return -EEXIST;
	for (i = span.first; i < span.end; i++)
		if (size_at(area, i) || size_in(entry_of(area, i)))
			return -EEXIST;
	/* Another function may start after this one in its last granule. */
	if (span.end < area->nr && size_at(area, span.end) &&
	    start_in(entry_of(area, span.end)) <
	    function->addr + function->size)
		return -EEXIST;
	return 0;
}

static int write_rows(struct sfjit_area *area,
		      const struct sfjit_function *function, struct span span)
{
	struct sframe_fde fde;
	struct sfg_place place = {
		.index = &fde,
		.rows = rows_of(area, span.first),
		.len = (size_t)(span.end - span.first) * area->row_bytes,
	};
	size_t used;
	int ret = sfjit_write_function(function, &place, &used);

	return ret == -ENOSPC ? -E2BIG : ret;
}

/* Make the function visible to the kernel. */
static void set_entries(struct sfjit_area *area,
			const struct sfjit_function *function, struct span span)
{
	uint32_t fre_off = span.first * area->row_bytes, i;

	for (i = span.first; i < span.end; i++) {
		set_start(entry_of(area, i), function->addr);
		set_rest(entry_of(area, i), function->size, fre_off);
	}
}

/* ---- Functions of many rows ------------------------------------------ */

static uint32_t row_at(const struct sfjit_function *function, uint64_t offset)
{
	uint32_t i = 0;

	while (i + 1 < function->nr_rows &&
	       function->rows[i + 1].start <= offset)
		i++;
	return i;
}

/*
 * The part of a function that begins at an offset. It ends at the end of a
 * granule, after at most SFJIT_MAX_ROWS rows. @rows has space for those.
 */
static struct sfjit_function part_of(const struct sfjit_area *area,
				     const struct sfjit_function *function,
				     uint32_t offset, struct sfjit_row *rows)
{
	uint32_t first = row_at(function, offset), i, end = function->size;
	struct sfjit_function part = *function;
	uintptr_t limit;

	if (function->nr_rows - first > SFJIT_MAX_ROWS) {
		limit = function->addr + function->rows[first +
						SFJIT_MAX_ROWS].start;
		limit = start_of_granule(area, granule_of(area, limit));
		end = limit - function->addr;
	}
	part.addr += offset;
	part.size = end - offset;
	part.rows = rows;
	part.nr_rows = 0;
	for (i = first; i < function->nr_rows &&
	     function->rows[i].start < end; i++) {
		rows[part.nr_rows] = function->rows[i];
		rows[part.nr_rows++].start = i == first ? 0 :
					function->rows[i].start - offset;
	}
	return part;
}

/* First write the rows of all parts, then make the parts visible. */
__attribute__((noinline))
static int publish_parts(struct sfjit_area *area,
			 const struct sfjit_function *function, bool visible)
{
	struct sfjit_row rows[SFJIT_MAX_ROWS];
	struct sfjit_function part;
	uint32_t offset = 0;
	struct span span;
	int ret = 0;

	for (; !ret && offset < function->size; offset += part.size) {
		part = part_of(area, function, offset, rows);
		span = span_of(area, part.addr, part.size, true);
		if (visible)
			set_entries(area, &part, span);
		else
			ret = write_rows(area, &part, span);
	}
	return ret;
}

/* ---- The calls ------------------------------------------------------- */

static int publish_long(struct sfjit_area *area,
			const struct sfjit_function *function)
{
	struct sfjit_pieces pieces;
	int ret = sfjit_first_piece(&pieces, function);

	if (!ret)
		ret = publish_parts(area, function, false);
	if (ret)
		return ret;
	set_size(area, granule_of(area, function->addr),
		 function->size | IS_LONG);
	return publish_parts(area, function, true);
}

int sfjit_area_publish(struct sfjit_area *area,
		       const struct sfjit_function *function)
{
	struct span span;
	int ret;

	if (!area || !function)
		return -EINVAL;
	ret = check_place(area, function);
	if (ret)
		return ret;
	if (is_long(function))
		return publish_long(area, function);
	span = span_of(area, function->addr, function->size, false);
	ret = write_rows(area, function, span);
	if (ret)
		return ret;
	set_size(area, span.first, function->size);
	set_entries(area, function, span);
	return 0;
}

static void withdraw(struct sfjit_area *area, uintptr_t start, uint32_t size)
{
	struct span span = span_of(area, start, size & ~IS_LONG,
				   size & IS_LONG);
	uint32_t i;

	for (i = span.end; i-- > span.first; )
		clear_entry(area, i);
	set_size(area, span.first, 0);
}

/*
 * A size without an entry that starts in the granule is stale: another thread
 * is publishing, or was when this process was forked.
 */
static bool starts_in(const struct sfjit_area *area, uint32_t granule)
{
	return granule_of(area, start_in(entry_of(area, granule))) == granule;
}

int sfjit_area_withdraw(struct sfjit_area *area, const void *start)
{
	uint32_t granule, size;

	if (!area)
		return -EINVAL;
	if (!is_inside(area, (uintptr_t)start, 1))
		return -ENOENT;
	granule = granule_of(area, (uintptr_t)start);
	size = size_at(area, granule);
	/* Left by a fork: free the granule. */
	if (size && !starts_in(area, granule))
		set_size(area, granule, 0);
	if (!size || start_in(entry_of(area, granule)) != (uintptr_t)start)
		return -ENOENT;
	withdraw(area, (uintptr_t)start, size);
	return 0;
}

static void reset_granule(struct sfjit_area *area, uint32_t granule,
			  uintptr_t first, uintptr_t end)
{
	uint32_t size = size_at(area, granule);
	uintptr_t at = start_in(entry_of(area, granule));

	if (!size)
		return;
	if (granule_of(area, at) == granule) {
		if (at >= first && at < end)
			withdraw(area, at, size);
		return;
	}
	/* Keep it if a function outside of the range may own it. */
	at = start_of_granule(area, granule);
	if (at >= first && granule_of(area, end) > granule)
		set_size(area, granule, 0);
}

int sfjit_area_reset(struct sfjit_area *area, const void *start, size_t length)
{
	uintptr_t first, end;
	uint32_t i;

	if (!area)
		return -EINVAL;
	first = start ? (uintptr_t)start : area->text;
	end = start ? first + length : area->text + area->text_length;
	if (!start != !length || end <= first ||
	    !is_inside(area, first, end - first))
		return -EINVAL;
	for (i = granule_of(area, first); i <= granule_of(area, end - 1); i++)
		reset_granule(area, i, first, end);
	return 0;
}

void sfjit_area_text(const struct sfjit_area *area, uintptr_t *start,
		     size_t *length, size_t *granule)
{
	*start = area->text;
	*length = area->text_length;
	*granule = (size_t)1 << area->shift;
}

/* A function that covers the address is found by the granule before it. */
bool sfjit_area_is_split(const struct sfjit_area *area, uintptr_t address)
{
	return is_inside(area, address, 1) && address > area->text &&
	       covers(area, granule_of(area, address - 1), address);
}

int sfjit_area_retire(struct sfjit_area *area)
{
	int ret;

	if (!area)
		return 0;
	ret = sfjit_retire_live(&area->section, area->text, area->error);
	free(area);
	return ret;
}

int sfjit_area_stat(const struct sfjit_area *area, struct sfjit_area_info *stat)
{
	uint32_t i;

	if (!area || !stat)
		return -EINVAL;
	*stat = (struct sfjit_area_info){
		.section = area->section.start,
		.length = area->section.length,
		.granules = area->nr,
		.error = area->error,
	};
	for (i = 0; i < area->nr; i++)
		stat->functions += size_at(area, i) && starts_in(area, i);
	return 0;
}
