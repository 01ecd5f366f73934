// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Memory of tables: whole pages. */
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

int table_copy(struct table *table, const void *section, size_t length)
{
	int ret = allocate_table(table, length);

	if (ret)
		return ret;
	memcpy(table->data, section, length);
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

/* Windows as they are found: NULL: they are only counted. */
struct chosen {
	struct window *windows;
	uint64_t gap;		/* parts windows */
	uint64_t length, known;	/* of all, and of their functions */
	uint32_t nr;
};

struct run {
	struct chosen *chosen;
	const struct image *image;
	const struct sfg_image *text;
	uint64_t start;		/* of the window in the making */
	uint64_t covered;	/* end of the last function */
	bool used;		/* it has a function */
};

static void close_run(struct run *run, uint64_t end)
{
	struct chosen *c = run->chosen;

	if (!run->used)
		return;
	c->length += end - run->start;
	if (c->windows)
		c->windows[c->nr] = (struct window) {
			.start = run->start, .length = end - run->start,
		};
	c->nr++;
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

static void add_to_run(struct run *run, uint64_t start, uint64_t length)
{
	if (parts(run, run->covered, start)) {
		close_run(run, run->covered);
		run->start = start;
	}
	run->used = true;
	run->chosen->known += length;
	run->covered = start + length;
}

static void end_segment(struct run *run, uint64_t end)
{
	close_run(run, parts(run, run->covered, end) ? run->covered : end);
}

static void choose_windows(struct chosen *chosen,
			   const struct sfg_section *section,
			   const struct image *image)
{
	struct sfg_row_reader reader;
	uint32_t i = 0;
	size_t n;

	chosen->nr = 0;
	chosen->length = 0;
	chosen->known = 0;
	for (n = 0; n < image->nr_text; n++) {
		uint64_t start = image->text[n].addr;
		uint64_t end = start + image->text[n].len;
		struct run run = {
			.chosen = chosen, .image = image,
			.text = &image->text[n], .start = start,
			.covered = start,
		};

		for (; i < section->header.num_fdes &&
		       !sfg_read_fde(section, i, &reader, NULL) &&
		       reader.fde.addr < end; i++)
			add_to_run(&run, reader.fde.addr, reader.fde.size);
		end_segment(&run, end);
	}
}

int table_choose_windows(struct table *table, const void *data, size_t length,
			 const struct image *image)
{
	struct chosen chosen = { .gap = GAP };
	struct sfg_section section;
	int ret;

	ret = table_room(table, 0);
	if (ret || sfg_open_section(&section, data, length, 0, NULL))
		return ret;
	choose_windows(&chosen, &section, image);
	if (chosen.length >= LEAST && chosen.known < chosen.length / 2) {
		chosen.gap = PADDING;
		choose_windows(&chosen, &section, image);
	}
	ret = table_room(table, chosen.nr);
	if (ret)
		return ret;
	chosen.windows = table_windows(table);
	choose_windows(&chosen, &section, image);
	return 0;
}
