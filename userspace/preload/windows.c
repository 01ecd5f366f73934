// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A window is an executable segment, less long stretches without call frame
 * information: code of a runtime that has none (the built-ins of V8) keeps frame
 * pointers, and the kernel follows those only outside of windows. Short
 * stretches stay inside: a walk that ends is better than a wrong frame. If most
 * of the text has none, as musl in a static program, each function with CFI has
 * a window of its own: frame pointers lead through the rest, if it keeps them.
 * Go's code does: what its table does not tell is outside, however short.
 */
#include "windows.h"

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

static void add_function(struct run *run, uint64_t start, uint64_t length)
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

static void choose(struct chosen *chosen, const struct sfg_section *section,
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
			add_function(&run, reader.fde.addr, reader.fde.size);
		end_segment(&run, end);
	}
}

int windows_choose(struct table *table, const void *data, size_t length,
		   const struct image *image)
{
	struct chosen chosen = { .gap = GAP };
	struct sfg_section section;
	int ret;

	ret = table_room(table, 0);
	if (ret || sfg_open_section(&section, data, length, 0, NULL))
		return ret;
	choose(&chosen, &section, image);
	if (chosen.length >= LEAST && chosen.known < chosen.length / 2) {
		chosen.gap = PADDING;
		choose(&chosen, &section, image);
	}
	ret = table_room(table, chosen.nr);
	if (ret)
		return ret;
	chosen.windows = table_windows(table);
	choose(&chosen, &section, image);
	return 0;
}
