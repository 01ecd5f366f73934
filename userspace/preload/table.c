// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Memory of tables: whole pages. */
#include <grow.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "sys.h"
#include "table.h"

/* From <linux/mman.h>, Linux 6.13. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL	102
#endif

static size_t whole_pages(size_t length)
{
	size_t page = getpagesize();

	return (length + page - 1) & ~(page - 1);
}

static void free_windows(struct table *table)
{
	if (table->many)
		sys_unmap(table->many, table->many_mapped);
	table->many = NULL;
	table->nr_windows = 0;
}

int table_room(struct table *table, uint32_t nr_windows)
{
	free_windows(table);
	if (nr_windows > TABLE_FEW) {
		table->many_mapped = whole_pages(nr_windows *
						 sizeof(struct window));
		table->many = sys_map(table->many_mapped);
		if (!table->many)
			return -ENOMEM;
	}
	table->nr_windows = nr_windows;
	return 0;
}

static int allocate_table(struct table *table, size_t length)
{
	table->mapped = whole_pages(length);
	table->length = length;
	table->data = sys_map(table->mapped);
	return table->data ? 0 : -ENOMEM;
}

static int seal_table(struct table *table)
{
	return SYS(SYS_mprotect, table->data, table->mapped, PROT_READ);
}

int table_copy(struct table *table, const void *data, size_t length)
{
	int ret = allocate_table(table, length);

	if (ret)
		return ret;
	memcpy(table->data, data, length);
	return seal_table(table);
}

int table_read(struct table *table, int fd, size_t length)
{
	int ret = allocate_table(table, length);

	if (!ret)
		ret = sys_read_all(fd, table->data, length, 0);
	return ret ? ret : seal_table(table);
}

/* Its pages stay those of the file but for the first. */
static int write_first_page(struct table *table, size_t length)
{
	volatile unsigned char *first = (void *)table->data;
	long ret = SYS(SYS_mprotect, table->data, length,
		       PROT_READ | PROT_WRITE);

	if (ret)
		return ret;
	*first = *first;
	return SYS(SYS_mprotect, table->data, length, PROT_READ);
}

/*
 * fork() does not copy the page tables of a file mapping: page faults of the
 * child would fill them again, but a sample takes none. It does copy them if
 * the mapping has guard pages, so we put one after the table, or a private
 * page. Locked memory, as after mlockall(MCL_FUTURE), takes no guard page.
 */
int table_map(struct table *table, int fd, size_t length)
{
	size_t guard = whole_pages(1);
	long ret;

	table->mapped = whole_pages(length) + guard;
	table->length = length;
	ret = SYS_MMAP(NULL, table->mapped, PROT_READ,
		       MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (ret < 0 && ret > -4096)
		return ret;
	table->data = (void *)ret;
	ret = SYS(SYS_madvise, ret + table->mapped - guard, guard,
		  MADV_GUARD_INSTALL);
	return ret == -EINVAL ? write_first_page(table, table->mapped - guard) :
	       ret;
}

void table_free(struct table *table)
{
	if (table->data)
		sys_unmap(table->data, table->mapped);
	table->data = NULL;
	free_windows(table);
}

/*
 * A window is an executable segment, less long stretches without call frame
 * information: code of a runtime that has none (the built-ins of V8) keeps frame
 * pointers, and the kernel follows those only outside of windows. Short
 * stretches stay inside: a walk that ends is better than a wrong frame. If most
 * of the text has none, as musl in a static program, each function with CFI has
 * a window of its own: frame pointers lead through the rest, if it keeps them.
 * Go's code does: what its table does not tell is outside, however short.
 */

#define GAP	(64UL << 10)

/* Of most of less text than this, the compiler's start files may be without. */
#define LEAST	(2UL << 10)

/* More than linkers pad between functions. */
#define PADDING	64UL

/* Windows as they are found, in memory of the caller of table_choose_windows(). */
struct chosen {
	struct window *windows;
	size_t max;
	uint64_t gap;		/* parts windows */
	uint64_t length, known;	/* of all, and of their rows */
	uint32_t nr, rows;
	int error;
};

struct run {
	struct chosen *chosen;
	const struct image *image;
	const struct sfg_image *text;
	uint64_t start;		/* of the window in the making */
	uint64_t covered;	/* end of the last row */
	bool used;		/* it has a row */
};

static void add_window(struct chosen *c, uint64_t start, uint64_t end)
{
	if (!grow_array(&c->windows, &c->max, c->nr, sizeof(*c->windows))) {
		c->error = -ENOMEM;
		return;
	}
	c->windows[c->nr++] = (struct window) {
		.start = start, .length = end - start,
	};
	c->length += end - start;
}

static void close_run(struct run *run, uint64_t end)
{
	if (run->used)
		add_window(run->chosen, run->start, end);
	run->used = false;
}

/* Code of Go, and not what fills the gap up to the next function. */
static bool is_code_of_go(const struct run *run, uint64_t from, uint64_t to)
{
	const struct sfg_go *go = &run->image->go;
	const uint8_t *code = run->text->data;

	if (!run->image->has_go)
		return false;
	from = from > go->text ? from : go->text;
	to = to < go->text_end ? to : go->text_end;
	return from < to &&
	       (!code || sfg_padding(SFG_HOST_ABI, code + from - run->text->addr,
				     to - from) < to - from);
}

static bool parts(const struct run *run, uint64_t from, uint64_t to)
{
	return to - from >= run->chosen->gap || is_code_of_go(run, from, to);
}

static void add_to_run(struct run *run, uint64_t start, uint64_t end)
{
	if (parts(run, run->covered, start)) {
		close_run(run, run->covered);
		run->start = start;
	}
	run->used = true;
	run->chosen->known += end - start;
	run->covered = end;
}

static void end_segment(struct run *run, uint64_t end)
{
	close_run(run, parts(run, run->covered, end) ? run->covered : end);
}

/* Goes through the code that has rows: [start, end) has the same one. */
struct stretches {
	const struct sfg_packed *table;
	uint64_t at;		/* of sfg_next_packed_row() */
	uint64_t start, end;	/* equal: none is left */
};

/* Of a table whose rows repeat, each is for all of the code. */
static void next_stretch(struct stretches *s)
{
	struct sfjit_function f = { 0 };
	struct sfjit_row row;

	if ((s->at && s->table->header.repeat) ||
	    sfg_next_packed_row(s->table, &s->at, &f, &row, NULL))
		f.size = 0;
	s->start = f.addr;
	s->end = f.addr + f.size;
}

/* A row may go on in the next segment. */
static void choose_in_segment(struct run *run, struct stretches *s)
{
	const uint64_t end = run->text->addr + run->text->len;

	while (s->start < s->end && s->start < end) {
		if (s->end > end) {
			add_to_run(run, s->start, end);
			s->start = end;
			break;
		}
		add_to_run(run, s->start, s->end);
		run->chosen->rows++;
		next_stretch(s);
	}
	end_segment(run, end);
}

static void choose_windows(struct chosen *chosen,
			   const struct sfg_packed *packed,
			   const struct image *image)
{
	struct stretches s = { .table = packed };
	size_t i;

	*chosen = (struct chosen) {
		.windows = chosen->windows, .max = chosen->max,
		.gap = chosen->gap,
	};
	next_stretch(&s);
	for (i = 0; i < image->nr_text; i++) {
		struct run run = {
			.chosen = chosen, .image = image,
			.text = &image->text[i],
			.start = image->text[i].addr,
			.covered = image->text[i].addr,
		};

		choose_in_segment(&run, &s);
	}
}

static int copy_windows(struct table *table, const struct chosen *chosen)
{
	int ret = chosen->error ? chosen->error :
				  table_room(table, chosen->nr);

	if (ret)
		return ret;
	table->rows = chosen->rows;
	if (chosen->nr)
		memcpy(table_windows(table), chosen->windows,
		       chosen->nr * sizeof(*chosen->windows));
	return 0;
}

int table_choose_windows(struct table *table, const void *data, size_t length,
			 const struct image *image)
{
	struct chosen chosen = { .gap = GAP };
	struct sfg_packed packed;
	int ret;

	ret = table_room(table, 0);
	if (ret || sfg_open_packed(&packed, data, length, NULL))
		return ret;
	choose_windows(&chosen, &packed, image);
	if (chosen.length >= LEAST && chosen.known < chosen.length / 2) {
		chosen.gap = PADDING;
		choose_windows(&chosen, &packed, image);
	}
	ret = copy_windows(table, &chosen);
	free(chosen.windows);
	return ret;
}
