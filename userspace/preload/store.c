// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Sizes are powers of two; each has a list of free pieces. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sframegen.h>

#include "store.h"
#include "sys.h"

#define SLAB		(64UL << 10)
#define SMALLEST	64
#define CLASSES		9		/* up to 16 KiB */
#define LARGEST		((size_t)SMALLEST << (CLASSES - 1))

struct piece {
	struct piece *next;
};

static struct piece *unused[CLASSES];

static unsigned int class_of(size_t size)
{
	unsigned int class = 0;

	while (((size_t)SMALLEST << class) < size)
		class++;
	return class;
}

static void grow_class(unsigned int class)
{
	size_t size = (size_t)SMALLEST << class, at;
	char *slab = sys_map(SLAB);
	struct piece *piece;

	for (at = 0; slab && at < SLAB; at += size) {
		piece = (struct piece *)(slab + at);
		piece->next = unused[class];
		unused[class] = piece;
	}
}

void *store_get(size_t size)
{
	struct piece *piece;
	unsigned int class;

	if (size > LARGEST)
		return sys_map(size);
	class = class_of(size);
	if (!unused[class])
		grow_class(class);
	piece = unused[class];
	if (!piece)
		return NULL;
	unused[class] = piece->next;
	memset(piece, 0, size);
	return piece;
}

void store_put(void *p, size_t size)
{
	struct piece *piece = p;
	unsigned int class;

	if (!p)
		return;
	if (size > LARGEST) {
		sys_unmap(p, size);
		return;
	}
	class = class_of(size);
	piece->next = unused[class];
	unused[class] = piece;
}

/* Sections to clip are those that units.c made: sorted and without errors. */
struct range {
	uint64_t start, end;
};

static uint64_t end_of_function(const struct sfjit_function *f)
{
	return f->addr + f->size;
}

/* The function at this address begins before it. */
static bool cuts(const struct sfg_section *s, uint64_t address)
{
	struct sfjit_function f = { 0 };
	struct sfjit_row row;

	return (!sfg_find_row(s, address, &f, &row, NULL) || f.size) &&
	       f.addr < address;
}

/* Rows that repeat do so from the start of their function. */
static bool is_cuttable(const struct sfjit_function *f, uint64_t start)
{
	return !f->repeat || start <= f->addr ||
	       !((start - f->addr) % f->repeat);
}

static void cut_function(struct sfjit_function *f, const struct range *to)
{
	uint64_t end = end_of_function(f) < to->end ? end_of_function(f) :
		       to->end;

	if (f->addr < to->start)
		f->addr = to->start;
	f->size = end - f->addr;
}

/* The last row that begins at the cut or before is the first. */
static uint32_t read_rows(struct sfg_row_reader *r,
			  const struct sfjit_function *f,
			  struct sfjit_row *rows)
{
	uint64_t skipped = r->fde.repeat ? 0 : f->addr - r->fde.addr;
	struct sfjit_row row;
	uint32_t nr = 0;

	while (!sfg_read_row(r, &row, NULL)) {
		if (row.start <= skipped)
			row.start = nr = 0;
		else
			row.start -= skipped;
		if (!f->repeat && row.start >= f->size)
			break;
		rows[nr++] = row;
	}
	return nr;
}

/* Reads the functions in the range; returns how many. */
static size_t read_functions_in(const struct sfg_section *s,
				const struct range *range,
				struct sfjit_function *functions,
				struct sfjit_row *rows)
{
	struct sfg_row_reader r;
	struct sfjit_function *f;
	size_t nr = 0;
	uint32_t i;

	for (i = 0; i < s->header.num_fdes; i++) {
		if (sfg_read_fde(s, i, &r, NULL) ||
		    end_of_function(&r.fde) <= range->start ||
		    r.fde.addr >= range->end ||
		    !is_cuttable(&r.fde, range->start))
			continue;
		f = &functions[nr++];
		*f = r.fde;
		cut_function(f, range);
		f->rows = rows;
		f->nr_rows = read_rows(&r, f, rows);
		rows += f->nr_rows;
	}
	return nr;
}

static int write_section(const struct sfjit_function *functions, size_t nr,
			 void **section, size_t *length)
{
	size_t used;
	int ret;

	ret = sfg_section_size(SFG_HOST_ABI, functions, nr, length, NULL);
	if (ret)
		return ret;
	*section = store_get(*length);
	if (!*section)
		return -ENOMEM;
	ret = sfg_write_section(SFG_HOST_ABI, functions, nr,
				(uintptr_t)*section, *section, *length, &used,
				NULL);
	if (ret)
		store_put(*section, *length);
	return ret;
}

/* FDEs may share rows, so there can be more than the header says. */
static size_t count_section_rows(const struct sfg_section *s)
{
	struct sfg_row_reader r;
	size_t nr = 0;
	uint32_t i;

	for (i = 0; i < s->header.num_fdes; i++)
		if (!sfg_read_fde(s, i, &r, NULL))
			nr += r.left;
	return nr;
}

int store_clip(const void *section, size_t length, uintptr_t start,
	       uintptr_t end, void **clipped, size_t *clipped_length)
{
	const struct range range = { .start = start, .end = end };
	struct sfjit_function *functions;
	struct sfg_section s;
	struct sfjit_row *rows;
	size_t nr;
	int ret;

	*clipped = NULL;
	ret = sfg_open_section(&s, section, length, (uintptr_t)section, NULL);
	if (ret || (!cuts(&s, start) && !cuts(&s, end)))
		return ret;
	functions = calloc(s.header.num_fdes, sizeof(*functions));
	rows = calloc(count_section_rows(&s), sizeof(*rows));
	ret = -ENOMEM;
	if (functions && rows) {
		nr = read_functions_in(&s, &range, functions, rows);
		ret = write_section(functions, nr, clipped, clipped_length);
	}
	free(functions);
	free(rows);
	return ret;
}
