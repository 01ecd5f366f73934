// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Live windows: functions are appended to a section that the kernel reads.
 *
 * What is published is counted by num_fdes in the section, and by nothing
 * else: a fork may come between any two stores of another thread, and the child
 * has to find a section that can go on. So all that belongs to a function is
 * stored first, and the count with release semantics last.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <sframegen.h>

#include "internal.h"

#define HEADER_SIZE	sizeof(struct sframe_header)
#define INDEX_SIZE	sizeof(struct sframe_fde)

/* The index starts here: an entry does not share two cache lines. */
#define INDEX_OFFSET	32

/* What a function takes for its attributes, and a row at most. */
#define FUNCTION_BYTES	sizeof(struct sframe_fde_attr)
#define ROW_BYTES	33

/* The kernel takes so many entries of an index, and offsets of 32 bits. */
#define MAX_FUNCTIONS	(1u << 24)
#define MAX_LENGTH	UINT32_MAX

/* Defaults: the size of a function, and its rows. */
#define USUAL_SIZE	64
#define USUAL_ROWS	4

/*
 * @floor: text that was given to functions which were taken back since; it may
 * not be given out again
 */
struct sfjit_live {
	unsigned char	*section;
	size_t		length;
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
	return (struct sframe_header *)live->section;
}

static struct sframe_fde *fde_of(const struct sfjit_live *live, uint32_t i)
{
	return (struct sframe_fde *)(live->section + INDEX_OFFSET) + i;
}

static unsigned char *rows_of(const struct sfjit_live *live)
{
	return (unsigned char *)fde_of(live, live->capacity);
}

static uintptr_t start_of(const struct sframe_fde *fde)
{
	return (uintptr_t)fde + fde->func_start;
}

/* Bytes for rows that are not in use. */
static size_t room_of(const struct sfjit_live *live)
{
	return live->section + live->length - rows_of(live) -
	       header_of(live)->fre_len;
}

/* The first address that the next function may have. */
static uintptr_t next_text(const struct sfjit_live *live)
{
	uint32_t nr = header_of(live)->num_fdes;
	uintptr_t end = live->floor;
	const struct sframe_fde *last;

	if (!nr)
		return end;
	last = fde_of(live, nr - 1);
	/* A function that was taken back has size 0; floor has its end. */
	return last->func_size ? start_of(last) + last->func_size : end;
}

static void write_header(struct sfjit_live *live)
{
	struct sframe_header *header = header_of(live);

	sfjit_write_header(header);
	header->fdes_off = INDEX_OFFSET - HEADER_SIZE;
	header->fres_off = rows_of(live) - live->section - HEADER_SIZE;
}

/* From here on the kernel sees the function that was written. */
static void count(struct sfjit_live *live, uint16_t rows, uint32_t bytes)
{
	struct sframe_header *header = header_of(live);
	uint32_t *num_fdes = (uint32_t *)(live->section +
		offsetof(struct sframe_header, num_fdes));

	header->fre_len += bytes;
	header->num_fres += rows;
	__atomic_store_n(num_fdes, *num_fdes + 1, __ATOMIC_RELEASE);
}

/* ---- Making one ------------------------------------------------------ */

static int map_section(struct sfjit_live *live, uint64_t row_bytes)
{
	uint64_t length = INDEX_OFFSET + row_bytes +
			  (uint64_t)live->capacity * INDEX_SIZE;
	int ret;

	if (length > MAX_LENGTH)
		return -E2BIG;
	/* Pages that are never touched take no memory. */
	ret = sfjit_map(length, MAP_NORESERVE, &live->section);
	if (ret)
		return ret;
	/*
	 * The first function would allocate a whole huge page. A kernel without
	 * huge pages returns EINVAL.
	 */
	madvise(live->section, length, MADV_NOHUGEPAGE);
	live->length = length;
	write_header(live);
	return 0;
}

static int unmap_section(const struct sfjit_live *live)
{
	return sfjit_unmap(live->section, live->length);
}

/* Refuses what does not fit into 32 bits before it is multiplied. */
static int row_space(size_t functions, size_t rows, uint64_t *bytes)
{
	if (functions > MAX_FUNCTIONS || rows > MAX_LENGTH)
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
	return sfjit_register_live(live->key, live->section, live->length,
				   (const void *)live->text,
				   live->text_end - live->text, replace);
}

static size_t usual_functions(size_t length)
{
	size_t functions = length / USUAL_SIZE + 1;

	return functions < MAX_FUNCTIONS ? functions : MAX_FUNCTIONS;
}

static int init_live(struct sfjit_live *live, const void *text, size_t length,
		     size_t functions, size_t rows)
{
	uint64_t row_bytes;
	int ret;

	if (!functions)
		functions = usual_functions(length);
	if (!rows)
		rows = functions * USUAL_ROWS;
	ret = row_space(functions, rows, &row_bytes);
	if (ret)
		return ret;
	live->capacity = functions;
	live->text = live->floor = live->key = (uintptr_t)text;
	live->text_end = live->text + length;
	ret = map_section(live, row_bytes);
	if (ret)
		return ret;
	live->error = register_live(live, false);
	return 0;
}

static int create(const void *text, size_t length, size_t functions,
		  size_t rows, struct sfjit_live **result)
{
	struct sfjit_live *live = calloc(1, sizeof(*live));
	int ret;

	if (!live)
		return -ENOMEM;
	ret = init_live(live, text, length, functions, rows);
	if (ret) {
		free(live);
		return ret;
	}
	*result = live;
	return 0;
}

/* Under the lock: a child has no window without its handle. */
int sfjit_live_create(const void *text, size_t length, size_t functions,
		      size_t rows, struct sfjit_live **result)
{
	int ret;

	if (!result || !is_range(text, length))
		return -EINVAL;
	ret = sfjit_lock_for_new();
	if (ret)
		return ret;
	ret = create(text, length, functions, rows, result);
	sfjit_unlock();
	return ret;
}

/* ---- Functions come and go ------------------------------------------- */

static int check_place(const struct sfjit_live *live,
		       const struct sfjit_function *function)
{
	uint64_t start = function->addr;

	/* Code is in the window's text. */
	if (start < live->text || start >= live->text_end ||
	    function->size > live->text_end - start)
		return -EINVAL;
	/* The kernel searches: addresses ascend. */
	if (start < next_text(live))
		return -EEXIST;
	return header_of(live)->num_fdes == live->capacity ? -ENOSPC : 0;
}

static int write_function(struct sfjit_live *live,
			  const struct sfjit_function *function, size_t *used)
{
	const struct sframe_header *header = header_of(live);
	struct sframe_fde *fde = fde_of(live, header->num_fdes);
	struct sfg_place place = {
		.index = fde,
		.index_addr = (uintptr_t)fde,
		.rows = rows_of(live) + header->fre_len,
		.len = room_of(live),
		.fre_off = header->fre_len,
	};

	return sfjit_write_function(function, &place, used);
}

int sfjit_live_publish(struct sfjit_live *live,
		       const struct sfjit_function *function)
{
	size_t used;
	int ret;

	if (!live || !function)
		return -EINVAL;
	ret = check_place(live, function);
	if (ret)
		return ret;
	ret = write_function(live, function, &used);
	if (ret)
		return ret;
	count(live, function->nr_rows, used);
	return 0;
}

/* The entry of the function that starts at an address, or NULL. */
static struct sframe_fde *find_fde(const struct sfjit_live *live,
				   uintptr_t start)
{
	uint32_t low = 0, high = header_of(live)->num_fdes, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (start_of(fde_of(live, mid)) < start)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == header_of(live)->num_fdes ||
	    start_of(fde_of(live, low)) != start)
		return NULL;
	return fde_of(live, low);
}

/* One aligned store: the kernel sees the function whole or not at all. */
static void clear_size(struct sframe_fde *fde)
{
	uint32_t *size = (uint32_t *)((unsigned char *)fde +
				      offsetof(struct sframe_fde, func_size));

	__atomic_store_n(size, 0, __ATOMIC_RELEASE);
}

int sfjit_live_withdraw(struct sfjit_live *live, const void *start)
{
	struct sframe_fde *fde;

	if (!live)
		return -EINVAL;
	fde = find_fde(live, (uintptr_t)start);
	if (!fde || !fde->func_size)
		return -ENOENT;
	if (fde == fde_of(live, header_of(live)->num_fdes - 1))
		live->floor = start_of(fde) + fde->func_size;
	clear_size(fde);
	/* sfjit_live_grow() reserves no space for functions taken back. */
	live->withdrawn++;
	return 0;
}

/* ---- A larger section ------------------------------------------------ */

/* Blocks follow each other: one ends where the next or the area does. */
static size_t block_size(const struct sfjit_live *live, uint32_t i)
{
	uint32_t next = i + 1 < header_of(live)->num_fdes ?
			fde_of(live, i + 1)->fre_off : header_of(live)->fre_len;

	return next - fde_of(live, i)->fre_off;
}

static void copy_function(struct sfjit_live *to, const struct sfjit_live *from,
			  uint32_t i)
{
	const struct sframe_fde *old = fde_of(from, i);
	struct sframe_fde *fde = fde_of(to, header_of(to)->num_fdes);
	const unsigned char *block = rows_of(from) + old->fre_off;
	struct sframe_fde_attr attr;

	memcpy(&attr, block, sizeof(attr));
	fde->func_start = start_of(old) - (uintptr_t)fde;
	fde->func_size = old->func_size;
	fde->fre_off = header_of(to)->fre_len;
	memcpy(rows_of(to) + fde->fre_off, block, block_size(from, i));
	count(to, attr.num_fres, block_size(from, i));
}

/* Functions that were taken back are left out; their text is free again. */
static void copy_functions(struct sfjit_live *to, const struct sfjit_live *from)
{
	uint32_t i;

	for (i = 0; i < header_of(from)->num_fdes; i++)
		if (fde_of(from, i)->func_size)
			copy_function(to, from, i);
}

/*
 * A window that was not registered gets another chance, and so does one that
 * went because its text was unmapped.
 */
static int take_place(struct sfjit_live *live)
{
	int ret = live->error ? -ENOENT : register_live(live, true);

	if (ret == -ENOENT)
		live->error = register_live(live, false);
	return ret == -ENOENT ? 0 : ret;
}

/* As much again as there is, unless the caller says how much. */
static int grown_size(const struct sfjit_live *live, size_t functions,
		      size_t rows, uint32_t *capacity, uint64_t *row_bytes)
{
	uint32_t nr = header_of(live)->num_fdes - live->withdrawn;
	size_t area = live->section + live->length - rows_of(live);
	int ret;

	if (!functions)
		functions = live->capacity;
	ret = row_space(functions, rows, row_bytes);
	if (ret)
		return ret;
	if (!rows)
		*row_bytes = area;
	if (functions > MAX_FUNCTIONS - nr)
		return -E2BIG;
	*capacity = nr + functions;
	*row_bytes += header_of(live)->fre_len;
	return 0;
}

/* The caller has seen to it that the new range contains the old one. */
static int grow(struct sfjit_live *live, const void *text, size_t length,
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
	ret = take_place(&new);
	if (ret) {
		unmap_section(&new);
		return ret;
	}
	/* A section that cannot be unmapped is leaked; the window is valid. */
	unmap_section(live);
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

/* Under the lock: a fork sees the section that its window has. */
int sfjit_live_grow(struct sfjit_live *live, const void *text, size_t length,
		    size_t functions, size_t rows)
{
	int ret;

	if (!live || !contains(live, text, length))
		return -EINVAL;
	sfjit_lock();
	ret = grow(live, text, length, functions, rows);
	sfjit_unlock();
	return ret;
}

/* ---- The end --------------------------------------------------------- */

int sfjit_live_retire(struct sfjit_live *live)
{
	int ret;

	if (!live)
		return 0;
	sfjit_lock();
	/* After a failed registration the key may be another producer's. */
	if (!live->error)
		sfjit_unregister(live->key);
	ret = unmap_section(live);
	sfjit_unlock();
	free(live);
	return ret;
}

int sfjit_live_stat(const struct sfjit_live *live, struct sfjit_live_stat *stat)
{
	if (!live || !stat)
		return -EINVAL;
	*stat = (struct sfjit_live_stat){
		.section = live->section,
		.length = live->length,
		.room = room_of(live),
		.functions = header_of(live)->num_fdes,
		.withdrawn = live->withdrawn,
		.capacity = live->capacity,
		.error = live->error,
	};
	return 0;
}
