// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Live windows: append functions to a section that the kernel is reading.
 *
 * num_fdes in the section is the only count of published functions. Another
 * thread may fork between any two stores, and the child must find a section
 * that it can extend. So everything else of a function is stored first, and the
 * count last, with release semantics.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sframegen.h>

#include "live_section.h"
#include "pieces.h"

/* Bytes of a function's attributes, and of a row at most. */
#define FUNCTION_BYTES	sizeof(struct sframe_fde_attr)
#define ROW_BYTES	33

/* Defaults: bytes and rows of a function. */
#define USUAL_SIZE	64
#define USUAL_ROWS	4

/*
 * @floor: end of the text of withdrawn functions, which is not given out again
 */
struct sfjit_live {
	struct sfjit_live_section section;
	uint32_t	capacity;
	uint32_t	withdrawn;
	uintptr_t	text;
	uintptr_t	text_end;
	uintptr_t	floor;
	uintptr_t	key;
	int		error;
};

/* ---- The section ----------------------------------------------------- */

static struct sframe_header *header_of(const struct sfjit_live *live)
{
	return (struct sframe_header *)live->section.start;
}

static struct sframe_fde *fde_of(const struct sfjit_live *live, uint32_t i)
{
	return (struct sframe_fde *)(live->section.start +
				     SFJIT_INDEX_OFFSET) + i;
}

static unsigned char *rows_of(const struct sfjit_live *live)
{
	return (unsigned char *)fde_of(live, live->capacity);
}

static uintptr_t entry_start(const struct sframe_fde *fde)
{
	return (uintptr_t)fde + fde->func_start;
}

/* Unused bytes for rows. */
static size_t room_of(const struct sfjit_live *live)
{
	return live->section.start + live->section.length - rows_of(live) -
	       header_of(live)->fre_len;
}

/* The lowest address for the next function. */
static uintptr_t next_text(const struct sfjit_live *live)
{
	uint32_t nr = header_of(live)->num_fdes;
	uintptr_t end = live->floor;
	const struct sframe_fde *last;

	if (!nr)
		return end;
	last = fde_of(live, nr - 1);
	/* A withdrawn function has size 0; floor is its end. */
	return last->func_size ? entry_start(last) + last->func_size : end;
}

/* Written after the counted entries. */
struct batch {
	uint32_t entries;
	uint32_t rows;
	uint32_t bytes;
};

/* Make a batch visible to the kernel, all at once. */
static void commit_batch(struct sfjit_live *live, struct batch batch)
{
	struct sframe_header *header = header_of(live);
	uint32_t *num_fdes = (uint32_t *)(live->section.start +
		offsetof(struct sframe_header, num_fdes));

	header->fre_len += batch.bytes;
	header->num_fres += batch.rows;
	__atomic_store_n(num_fdes, *num_fdes + batch.entries,
			 __ATOMIC_RELEASE);
}

/* ---- Making one ------------------------------------------------------ */

static int map_section(struct sfjit_live *live, uint64_t row_bytes)
{
	return sfjit_map_live(&live->section, live->capacity, row_bytes, 0);
}

/* Refuse sizes beyond 32 bits before multiplying. */
static int row_space(size_t functions, size_t rows, uint64_t *bytes)
{
	if (functions > SFJIT_MAX_ENTRIES || rows > SFJIT_MAX_LENGTH)
		return -E2BIG;
	*bytes = (uint64_t)functions * FUNCTION_BYTES +
		 (uint64_t)rows * ROW_BYTES;
	return 0;
}

static bool is_range(const void *text, size_t length)
{
	return text && length && !sfjit_wraps(text, length);
}

static int register_live(struct sfjit_live *live, bool replace)
{
	return sfjit_register_live(live->key, live->section.start,
				   live->section.length,
				   (const void *)live->text,
				   live->text_end - live->text, replace);
}

static size_t usual_functions(size_t length)
{
	size_t functions = length / USUAL_SIZE + 1;

	return functions < SFJIT_MAX_ENTRIES ? functions : SFJIT_MAX_ENTRIES;
}

struct request {
	const void	*text;
	size_t		length, functions, rows;
};

static int init_live(void *object, const void *how)
{
	const struct request *request = how;
	size_t functions = request->functions, rows = request->rows;
	struct sfjit_live *live = object;
	uint64_t row_bytes;
	int ret;

	if (!functions)
		functions = usual_functions(request->length);
	if (!rows)
		rows = functions * USUAL_ROWS;
	ret = row_space(functions, rows, &row_bytes);
	if (ret)
		return ret;
	live->capacity = functions;
	live->text = live->floor = live->key = (uintptr_t)request->text;
	live->text_end = live->text + request->length;
	ret = map_section(live, row_bytes);
	if (ret)
		return ret;
	live->error = register_live(live, false);
	return 0;
}

int sfjit_live_create(const void *text, size_t length, size_t functions,
		      size_t rows, struct sfjit_live **result)
{
	const struct request request = { text, length, functions, rows };

	if (!result || !is_range(text, length))
		return -EINVAL;
	return sfjit_create(sizeof(**result), init_live, &request, result);
}

/* ---- Functions come and go ------------------------------------------- */

static inline int check_place(const struct sfjit_live *live, uint64_t start,
			      uint64_t size)
{
	if (start < live->text || start >= live->text_end ||
	    size > live->text_end - start)
		return -EINVAL;
	/* The kernel uses binary search: addresses must ascend. */
	if (start < next_text(live))
		return -EEXIST;
	return header_of(live)->num_fdes == live->capacity ? -ENOSPC : 0;
}

/* Inlined: for an empty batch the compiler then removes the arithmetic. */
__attribute__((always_inline))
static inline int write_function(struct sfjit_live *live,
				 const struct sfjit_function *function,
				 struct batch *batch)
{
	const struct sframe_header *header = header_of(live);
	struct sframe_fde *fde = fde_of(live, header->num_fdes +
					      batch->entries);
	struct sfg_place place = {
		.index = fde,
		.index_addr = (uintptr_t)fde,
		.rows = rows_of(live) + header->fre_len + batch->bytes,
		.len = room_of(live) - batch->bytes,
		.fre_off = header->fre_len + batch->bytes,
	};
	size_t used;
	int ret;

	ret = sfjit_write_function(function, &place, &used);
	if (ret)
		return ret;
	batch->entries++;
	batch->rows += function->nr_rows;
	batch->bytes += used;
	return 0;
}

/*
 * Leave a byte after the rows of an entry, which readers ignore: it says that
 * the next entry is of the same function.
 */
static int link_next(struct sfjit_live *live, struct batch *batch)
{
	if (room_of(live) == batch->bytes)
		return -ENOSPC;
	batch->bytes++;
	return 0;
}

/* Not inlined: @pieces holds many rows, too many for each caller's stack. */
__attribute__((noinline))
static int publish_pieces(struct sfjit_live *live,
			  const struct sfjit_function *function)
{
	uint32_t free = live->capacity - header_of(live)->num_fdes;
	const struct sfjit_function *piece;
	struct sfjit_pieces pieces;
	struct batch batch = { 0 };
	int ret = sfjit_first_piece(&pieces, function);

	for (piece = ret ? NULL : sfjit_next_piece(&pieces); piece;
	     piece = sfjit_next_piece(&pieces)) {
		if (batch.entries)
			ret = link_next(live, &batch);
		if (!ret && batch.entries == free)
			ret = -ENOSPC;
		if (!ret)
			ret = write_function(live, piece, &batch);
		if (ret)
			break;
	}
	if (!ret)
		commit_batch(live, batch);
	return ret;
}

int sfjit_live_publish(struct sfjit_live *live,
		       const struct sfjit_function *function)
{
	struct batch batch = { 0 };
	int ret;

	if (!live || !function)
		return -EINVAL;
	ret = check_place(live, function->addr, function->size);
	if (ret)
		return ret;
	if (function->nr_rows > SFJIT_MAX_ROWS)
		return publish_pieces(live, function);
	ret = write_function(live, function, &batch);
	if (ret)
		return ret;
	commit_batch(live, batch);
	return 0;
}

/* Blocks are adjacent: each ends where the next begins, or the rows end. */
static size_t block_size(const struct sfjit_live *live, uint32_t i)
{
	uint32_t next = i + 1 < header_of(live)->num_fdes ?
			fde_of(live, i + 1)->fre_off : header_of(live)->fre_len;

	return next - fde_of(live, i)->fre_off;
}

static struct sframe_fde_attr attr_of(const unsigned char *block)
{
	struct sframe_fde_attr attr;

	memcpy(&attr, block, sizeof(attr));
	return attr;
}

/* Bytes of a block that belong to the format. */
static size_t format_size(const unsigned char *block)
{
	struct sframe_fde_attr attr = attr_of(block);
	size_t at = sizeof(attr);
	unsigned char info;

	while (attr.num_fres--) {
		at += (size_t)1 << SFRAME_FDE_FRE_TYPE(attr.info);
		info = block[at++];
		at += (size_t)SFRAME_FRE_WORDS(info) <<
		      SFRAME_FRE_WORD_SIZE(info);
	}
	return at;
}

static const unsigned char *block_of(const struct sfjit_live *live, uint32_t i)
{
	return rows_of(live) + fde_of(live, i)->fre_off;
}

static size_t used_size(const struct sfjit_live *live, uint32_t i)
{
	return format_size(block_of(live, i));
}

/*
 * Whether the next entry is of the same function, see link_next(). If more than
 * one byte is left, those are rows whose count a fork cut off.
 */
static bool is_linked(const struct sfjit_live *live, uint32_t i)
{
	return block_size(live, i) == used_size(live, i) + 1;
}

/* The first entry of the function at an address, or num_fdes. */
static uint32_t find_fde(const struct sfjit_live *live, uintptr_t start)
{
	uint32_t low = 0, high = header_of(live)->num_fdes, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (entry_start(fde_of(live, mid)) < start)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == header_of(live)->num_fdes ||
	    entry_start(fde_of(live, low)) != start ||
	    (low && is_linked(live, low - 1)))
		return header_of(live)->num_fdes;
	return low;
}

/* One aligned store: the kernel sees the function whole or not at all. */
static void clear_size(struct sframe_fde *fde)
{
	uint32_t *size = (uint32_t *)((unsigned char *)fde +
				      offsetof(struct sframe_fde, func_size));

	__atomic_store_n(size, 0, __ATOMIC_RELEASE);
}

static void withdraw_entry(struct sfjit_live *live, uint32_t i)
{
	struct sframe_fde *fde = fde_of(live, i);

	/* A fork may have come between the entries of the function. */
	if (!fde->func_size)
		return;
	if (i == header_of(live)->num_fdes - 1)
		live->floor = entry_start(fde) + fde->func_size;
	clear_size(fde);
	/* sfjit_live_grow() reserves no space for withdrawn functions. */
	live->withdrawn++;
}

int sfjit_live_withdraw(struct sfjit_live *live, const void *start)
{
	uint32_t first, last;

	if (!live)
		return -EINVAL;
	first = find_fde(live, (uintptr_t)start);
	if (first == header_of(live)->num_fdes ||
	    !fde_of(live, first)->func_size)
		return -ENOENT;
	for (last = first; is_linked(live, last); last++)
		;
	/* The first entry last, since it represents the function. */
	for (;; last--) {
		withdraw_entry(live, last);
		if (last == first)
			return 0;
	}
}

/* The kernel reads only what num_fdes counts. */
int sfjit_live_reset(struct sfjit_live *live)
{
	struct sframe_header *header;
	uint32_t *num_fdes;

	if (!live)
		return -EINVAL;
	header = header_of(live);
	num_fdes = (uint32_t *)(live->section.start +
		offsetof(struct sframe_header, num_fdes));
	__atomic_store_n(num_fdes, 0, __ATOMIC_RELEASE);
	header->num_fres = 0;
	header->fre_len = 0;
	live->withdrawn = 0;
	live->floor = live->text;
	return 0;
}

/* ---- Functions of another section ------------------------------------ */

/* Copies an entry and the first bytes of its block after the written ones. */
static void copy_entry(struct sfjit_live *live, const struct sframe_fde *from,
		       const unsigned char *block, size_t size,
		       struct batch *batch)
{
	const struct sframe_header *header = header_of(live);
	struct sframe_fde *fde = fde_of(live, header->num_fdes +
					      batch->entries);

	fde->func_start = entry_start(from) - (uintptr_t)fde;
	fde->func_size = from->func_size;
	fde->fre_off = header->fre_len + batch->bytes;
	memcpy(rows_of(live) + fde->fre_off, block, size);
	batch->entries++;
	batch->rows += attr_of(block).num_fres;
	batch->bytes += size;
}

static int append_entry(struct sfjit_live *live, const struct sframe_fde *from,
			const unsigned char *block, struct batch *batch)
{
	uint32_t free = live->capacity - header_of(live)->num_fdes;
	size_t size = format_size(block);
	int ret = batch->entries ? link_next(live, batch) : 0;

	if (ret)
		return ret;
	if (batch->entries == free || size > room_of(live) - batch->bytes)
		return -ENOSPC;
	copy_entry(live, from, block, size, batch);
	return 0;
}

int sfjit_live_check_text(const struct sfjit_live *live,
			  const struct sfjit_range *text)
{
	return check_place(live, (uintptr_t)text->start, text->length);
}

/* All functions become linked entries of one function, withdrawn together. */
int sfjit_live_append(struct sfjit_live *live, const void *section,
		      const void **start)
{
	const struct sframe_header *header = section;
	const unsigned char *areas = (const unsigned char *)(header + 1) +
				     header->auxhdr_len;
	const struct sframe_fde *fde = (const void *)(areas + header->fdes_off);
	struct batch batch = { 0 };
	uint32_t i;
	int ret = 0;

	for (i = 0; i < header->num_fdes && !ret; i++)
		ret = append_entry(live, &fde[i], areas + header->fres_off +
				   fde[i].fre_off, &batch);
	if (ret)
		return ret;
	commit_batch(live, batch);
	if (start)
		*start = (const void *)entry_start(fde);
	return 0;
}

/* ---- A larger section ------------------------------------------------ */

/* The fork may have come while entries after this one were withdrawn. */
static size_t copied_size(const struct sfjit_live *live, uint32_t i)
{
	bool linked = is_linked(live, i) && fde_of(live, i + 1)->func_size;

	return used_size(live, i) + linked;
}

static void copy_function(struct sfjit_live *to, const struct sfjit_live *from,
			  uint32_t i)
{
	struct batch batch = { 0 };

	copy_entry(to, fde_of(from, i), block_of(from, i),
		   copied_size(from, i), &batch);
	commit_batch(to, batch);
}

/* Withdrawn functions are skipped, which frees their text. */
static void copy_functions(struct sfjit_live *to, const struct sfjit_live *from)
{
	uint32_t i;

	for (i = 0; i < header_of(from)->num_fdes; i++)
		if (fde_of(from, i)->func_size)
			copy_function(to, from, i);
}

/*
 * Register again if the first registration failed, or if the kernel removed the
 * window because its text was unmapped.
 */
static int replace_window(struct sfjit_live *live)
{
	int ret = live->error ? -ENOENT : register_live(live, true);

	if (ret == -ENOENT)
		live->error = register_live(live, false);
	return ret == -ENOENT ? 0 : ret;
}

/* Doubles the capacity unless the caller sets it. */
static int grown_size(const struct sfjit_live *live, size_t functions,
		      size_t rows, uint32_t *capacity, uint64_t *row_bytes)
{
	uint32_t nr = header_of(live)->num_fdes - live->withdrawn;
	size_t area = live->section.start + live->section.length -
		      rows_of(live);
	int ret;

	if (!functions)
		functions = live->capacity;
	ret = row_space(functions, rows, row_bytes);
	if (ret)
		return ret;
	if (!rows)
		*row_bytes = area;
	if (functions > SFJIT_MAX_ENTRIES - nr)
		return -E2BIG;
	*capacity = nr + functions;
	*row_bytes += header_of(live)->fre_len;
	return 0;
}

/* The caller has checked that the new range contains the old one. */
static int grow_window(struct sfjit_live *live, const void *text, size_t length,
		       size_t functions, size_t rows)
{
	struct sfjit_live new = *live;
	uint64_t row_bytes;
	int ret;

	ret = grown_size(live, functions, rows, &new.capacity, &row_bytes);
	if (ret)
		return ret;
	new.withdrawn = 0;
	if (text) {
		new.text = (uintptr_t)text;
		new.text_end = new.text + length;
	}
	new.floor = new.text;
	ret = map_section(&new, row_bytes);
	if (ret)
		return ret;
	copy_functions(&new, live);
	ret = replace_window(&new);
	if (ret) {
		sfjit_unmap_live(&new.section);
		return ret;
	}
	/* If it cannot be unmapped, leak the section; the window is valid. */
	sfjit_unmap_live(&live->section);
	*live = new;
	return 0;
}

static bool contains(const struct sfjit_live *live, const void *text,
		     size_t length)
{
	uintptr_t start = (uintptr_t)text;

	if (!text && !length)
		return true;
	return is_range(text, length) && start <= live->text &&
	       start + length >= live->text_end;
}

/* Under the lock, so that a forked child has the section of its window. */
int sfjit_live_grow(struct sfjit_live *live, const void *text, size_t length,
		    size_t functions, size_t rows)
{
	int ret;

	if (!live || !contains(live, text, length))
		return -EINVAL;
	sfjit_lock();
	ret = grow_window(live, text, length, functions, rows);
	sfjit_unlock();
	return ret;
}

/* ---- The end --------------------------------------------------------- */

int sfjit_live_retire(struct sfjit_live *live)
{
	int ret;

	if (!live)
		return 0;
	ret = sfjit_retire_live(&live->section, live->key, live->error);
	free(live);
	return ret;
}

int sfjit_live_stat(const struct sfjit_live *live, struct sfjit_live_info *stat)
{
	if (!live || !stat)
		return -EINVAL;
	*stat = (struct sfjit_live_info){
		.section = live->section.start,
		.length = live->section.length,
		.room = room_of(live),
		.functions = header_of(live)->num_fdes,
		.withdrawn = live->withdrawn,
		.capacity = live->capacity,
		.error = live->error,
	};
	return 0;
}
