// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Sections from rows, encoded by sframegen.
 */
#include <errno.h>
#include <stdbool.h>

#include <sframegen.h>

#include "internal.h"
#include "pieces.h"

#define HEADER_SIZE	sizeof(struct sframe_header)
#define INDEX_SIZE	sizeof(struct sframe_fde)

/* Functions that the encoder accepts but that are of no use here. */
static inline int check_kind(const struct sfjit_function *function)
{
	/* Flags are for signal frames and for other architectures. */
	if (function->flags)
		return -EINVAL;
	return function->repeat && function->nr_rows > SFJIT_MAX_ROWS ?
	       -E2BIG : 0;
}

static int check_function(const struct sfjit_function *function)
{
	int ret = check_kind(function);

	if (ret)
		return ret;
	return sfg_cfas_are_possible(SFG_HOST_ABI, function->rows,
				     function->nr_rows) ? 0 : -EINVAL;
}

/* *@split: some function needs several entries. */
static int check_functions(const struct sfjit_function *functions, size_t nr,
			   bool *split)
{
	size_t i;
	int ret;

	*split = false;
	for (i = 0; i < nr; i++) {
		ret = check_function(&functions[i]);
		if (ret)
			return ret;
		*split |= functions[i].nr_rows > SFJIT_MAX_ROWS;
	}
	return 0;
}

/* ---- Sections with functions in pieces -------------------------------- */

/* Where the next piece goes; @section is NULL while measuring. */
struct layout {
	unsigned char	*section;
	uint64_t	entries;	/* in all */
	uint64_t	nr;		/* entries written */
	uint64_t	rows;
	uint64_t	row_bytes;
	uint64_t	end_before;
};

static int add_size(struct layout *layout, const struct sfjit_function *piece)
{
	size_t size;
	int ret;

	if (piece->addr < layout->end_before)
		return -EINVAL;
	ret = sfg_section_size(SFG_HOST_ABI, piece, 1, &size, NULL);
	if (ret)
		return ret;
	layout->row_bytes += size - HEADER_SIZE - INDEX_SIZE;
	return 0;
}

static int add_piece(struct layout *layout, const struct sfjit_function *piece)
{
	unsigned char *index = layout->section + HEADER_SIZE +
			       layout->nr * INDEX_SIZE;
	struct sfg_place place = {
		.index = index,
		.index_addr = (uintptr_t)index,
		.rows = layout->section + HEADER_SIZE +
			layout->entries * INDEX_SIZE + layout->row_bytes,
		.len = SIZE_MAX / 2,
		.fre_off = layout->row_bytes,
	};
	size_t used;
	int ret;

	ret = sfg_write_fde(SFG_HOST_ABI, piece, &place, &used, NULL);
	layout->row_bytes += used;
	return ret;
}

static int add_pieces(struct layout *layout,
		      const struct sfjit_function *function)
{
	struct sfjit_pieces pieces;
	const struct sfjit_function *piece;
	int ret = sfjit_first_piece(&pieces, function);

	while (!ret) {
		piece = sfjit_next_piece(&pieces);
		if (!piece)
			break;
		ret = layout->section ? add_piece(layout, piece) :
					add_size(layout, piece);
		layout->nr++;
		layout->rows += piece->nr_rows;
		layout->end_before = piece->addr + piece->size;
	}
	return ret;
}

static int add_functions(struct layout *layout,
			 const struct sfjit_function *functions, size_t nr)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < nr && !ret; i++)
		ret = add_pieces(layout, &functions[i]);
	return ret;
}

static long split_size(const struct sfjit_function *functions, size_t nr,
		       struct layout *layout)
{
	int ret = add_functions(layout, functions, nr);
	uint64_t size;

	if (ret)
		return ret;
	size = HEADER_SIZE + layout->nr * INDEX_SIZE + layout->row_bytes;
	return size > UINT32_MAX ? -E2BIG : (long)size;
}

/* This cannot fail: measuring has checked everything. */
static void split_fill(unsigned char *section,
		       const struct sfjit_function *functions, size_t nr,
		       const struct layout *measured)
{
	struct layout layout = { .section = section, .entries = measured->nr };
	struct sframe_header *header = (struct sframe_header *)section;

	sfjit_write_header(section);
	add_functions(&layout, functions, nr);
	header->num_fdes = layout.nr;
	header->num_fres = layout.rows;
	header->fre_len = layout.row_bytes;
	header->fres_off = layout.nr * INDEX_SIZE;
}

/* ---- Sections --------------------------------------------------------- */

static long measure(const struct sfjit_function *functions, size_t nr,
		    bool *split, struct layout *layout)
{
	size_t size;
	int ret;

	if (!functions || !nr)
		return -EINVAL;
	ret = check_functions(functions, nr, split);
	if (ret)
		return ret;
	if (*split)
		return split_size(functions, nr, layout);
	ret = sfg_section_size(SFG_HOST_ABI, functions, nr, &size, NULL);
	return ret ? ret : (long)size;
}

long sfjit_section_size(const struct sfjit_function *functions, size_t nr)
{
	struct layout layout = { 0 };
	bool split;

	return measure(functions, nr, &split, &layout);
}

long sfjit_section_fill(void *section, size_t length,
			const struct sfjit_function *functions, size_t nr)
{
	struct layout layout = { 0 };
	bool split;
	long size = measure(functions, nr, &split, &layout);
	int ret = 0;

	if (size < 0)
		return size;
	if (!section)
		return -EINVAL;
	if (length < (size_t)size)
		return -ENOSPC;
	if (split)
		split_fill(section, functions, nr, &layout);
	else
		ret = sfg_write_section(SFG_HOST_ABI, functions, nr,
					(uintptr_t)section, section, length,
					&length, NULL);
	return ret ? ret : size;
}

int sfjit_check_named(const struct sfjit_function *function)
{
	long size;
	int ret;

	if (!function)
		return -EINVAL;
	if (!sfg_abi_has_sframe(SFG_HOST_ABI)) {
		ret = check_function(function);
		return ret ? ret :
		       sfg_check_function(SFG_HOST_ABI, function, NULL);
	}
	size = sfjit_section_size(function, 1);
	return size < 0 ? size : 0;
}

void sfjit_write_header(void *section)
{
	size_t used;

	sfg_write_section(SFG_HOST_ABI, NULL, 0, (uintptr_t)section, section,
			  sizeof(struct sframe_header), &used, NULL);
}

int sfjit_write_function(const struct sfjit_function *function,
			 const struct sfg_place *place, size_t *used)
{
	int ret = check_kind(function);

	if (ret)
		return ret;
	return sfg_write_fde(SFG_HOST_ABI, function, place, used, NULL);
}
