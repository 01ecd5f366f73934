// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: which windows text has that JITs describe in part, while they
 * come and go in one mapping (built with AddressSanitizer).
 */
#include <sfjit.h>
#include <string.h>

#include <sframegen.h>

#include "../lib/tap.h"
#include "covers.h"

#define MAPPING	0x7f0000100000UL
#define END	(MAPPING + 0x100000)
#define FRINGE	0x10000
#define SIZE	0x400
#define MIDDLE	(MAPPING + 0x80000)

/* ---- What is around it ------------------------------------------------ */

/* In the module a call's memory is an arena, which is dropped as a whole. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static struct window {
	uintptr_t key, start, end;
	unsigned int functions;
} windows[16];

static size_t nr_windows;

static struct window *find_key(uintptr_t key)
{
	size_t i;

	for (i = 0; i < nr_windows; i++)
		if (windows[i].key == key)
			return &windows[i];
	return NULL;
}

static void set(struct window *window, uintptr_t key, const void *section,
		const void *text, size_t length)
{
	const struct sframe_header *header = section;

	*window = (struct window) {
		key, (uintptr_t)text, (uintptr_t)text + length,
		header->num_fdes,
	};
}

int sfjit_register(uintptr_t key, const void *section, size_t length,
		   const void *text, size_t text_length)
{
	uintptr_t start = (uintptr_t)text;
	size_t i;

	for (i = 0; i < nr_windows; i++)
		if (start < windows[i].end &&
		    windows[i].start < start + text_length)
			return -EEXIST;
	MUST(nr_windows < 16 && !find_key(key));
	set(&windows[nr_windows++], key, section, text, text_length);
	return 0;
}

int sfjit_replace(uintptr_t key, const void *section, size_t length,
		  const void *text, size_t text_length)
{
	struct window *window = find_key(key);

	if (!window)
		return -ENOENT;
	set(window, key, section, text, text_length);
	return 0;
}

int sfjit_unregister(uintptr_t key)
{
	struct window *window = find_key(key);

	if (!window)
		return -ENOENT;
	*window = windows[--nr_windows];
	return 0;
}

/* The text has no bytes to be looked at. */
size_t self_read(uintptr_t from, void *to, size_t length)
{
	return 0;
}

int self_mapping(int fd, uintptr_t address, struct self_mapping *mapping)
{
	*mapping = (struct self_mapping) { MAPPING, END, true, true };
	return address < END ? 0 : -ENOENT;
}

/* ---- The cases --------------------------------------------------------- */

static const struct self_mapping mapping = { MAPPING, END, true, true };
static uint8_t sections[2][SFG_SECTION_MAX(1, 1)];
static struct cover_owner owners[2];

/* A unit of one function that is all of its text. */
static int put(unsigned int nr, uintptr_t start)
{
	static const struct sfjit_row row = {
		0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE,
		SFJIT_NO_RULE,
	};
	struct sfjit_function f = {
		.addr = start, .size = SIZE, .nr_rows = 1, .rows = &row,
	};

	MUST(!sfg_write_section(SFG_HOST_ABI, &f, 1, (uintptr_t)sections[nr],
				sections[nr], sizeof(sections[nr]),
				&owners[nr].length, NULL));
	owners[nr].section = sections[nr];
	return covers_put(&owners[nr], start, start + SIZE, 0, &mapping);
}

/* 'functions' -1: no window at all. */
static void has(const char *name, uintptr_t start, uintptr_t end, int functions)
{
	size_t i;

	for (i = 0; i < nr_windows; i++)
		if (windows[i].start == start && windows[i].end == end)
			break;
	IS(name, i < nr_windows ? (int)windows[i].functions : -1, functions);
}

static void drop(unsigned int nr)
{
	covers_drop(&owners[nr], 0);
	IS("no window is left to the owner", owners[nr].windows, 0);
}

static void test_one(void)
{
	IS("a unit", put(0, MIDDLE), 0);
	has("is covered", MIDDLE, MIDDLE + SIZE, 1);
	has("in front of it stacks end", MIDDLE - FRINGE, MIDDLE, 0);
	has("behind it, too", MIDDLE + SIZE, MIDDLE + SIZE + FRINGE, 0);
	IS("and nowhere else", nr_windows, 3);
	TRUE("it is described", covers_described(MIDDLE, MIDDLE + 1));
	TRUE("its neighbours are not",
	     !covers_described(MIDDLE - FRINGE, MIDDLE));
	drop(0);
	IS("nothing is left", nr_windows, 0);
}

static void test_at_the_ends(void)
{
	IS("at the first byte", put(0, MAPPING), 0);
	IS("at the last", put(1, END - SIZE), 0);
	has("behind the first", MAPPING + SIZE, MAPPING + SIZE + FRINGE, 0);
	has("in front of the last", END - SIZE - FRINGE, END - SIZE, 0);
	IS("not outside of the mapping", nr_windows, 4);
	drop(0);
	drop(1);
	IS("nothing is left of both", nr_windows, 0);
}

static void test_two(void)
{
	uintptr_t second = MIDDLE + 0x8000;

	IS("two", put(0, MIDDLE) | put(1, second), 0);
	has("one window between them", MIDDLE + SIZE, second, 0);
	has("and one behind", second + SIZE, second + SIZE + FRINGE, 0);
	drop(1);
	has("which begins earlier without the second", MIDDLE + SIZE,
	    MIDDLE + SIZE + FRINGE, 0);
	IS("three are left", nr_windows, 3);
	IS("again", put(1, second), 0);
	drop(0);
	has("in front of the second without the first", second - FRINGE, second,
	    0);
	has("the second stays", second, second + SIZE, 1);
	drop(1);
	IS("nothing is left of two", nr_windows, 0);
}

/* Described again by another, as code that was overwritten. */
static void test_displaced(void)
{
	IS("first", put(0, MIDDLE), 0);
	IS("over it", put(1, MIDDLE + SIZE / 2), 0);
	IS("the first has no window", owners[0].windows, 0);
	has("the second has", MIDDLE + SIZE / 2, MIDDLE + SIZE / 2 + SIZE, 1);
	drop(0);
	drop(1);
	IS("nothing is left of either", nr_windows, 0);
}

static void test_forgotten(void)
{
	IS("a unit that is unmapped", put(0, MIDDLE), 0);
	nr_windows = 0;
	IS("beside it another", put(1, MIDDLE + SIZE), 0);
	has("does not keep its place", MIDDLE + SIZE - FRINGE, MIDDLE + SIZE, 0);
	IS("nor its owner", owners[0].windows, 0);
	drop(1);
	IS("nothing is left besides", nr_windows, 0);
}

/* Memory of a JIT that describes nothing has no owner to go with. */
static void test_stays(void)
{
	covers_end(MIDDLE + SIZE, MIDDLE + 2 * SIZE);
	has("a place where stacks end", MIDDLE + SIZE, MIDDLE + 2 * SIZE, 0);
	IS("a unit beside it", put(0, MIDDLE), 0);
	has("in front of that", MIDDLE - FRINGE, MIDDLE, 0);
	drop(0);
	has("it stays when the unit goes", MIDDLE + SIZE, MIDDLE + 2 * SIZE, 0);
	IS("and nothing else", nr_windows, 1);
	IS("a unit in its place", put(0, MIDDLE + SIZE), 0);
	has("displaces it", MIDDLE + SIZE, MIDDLE + 2 * SIZE, 1);
	drop(0);
	IS("nothing is left at all", nr_windows, 0);
}

/* Other memory is about to be mapped over it. */
static void test_taken(void)
{
	IS("a unit whose text goes", put(0, MIDDLE), 0);
	IS("beside it another", put(1, MIDDLE + SIZE), 0);
	TRUE("has a window",
	     covers_owned(&owners[0], MIDDLE, MIDDLE + 2 * SIZE));
	TRUE("but not there",
	     !covers_owned(&owners[0], MIDDLE + SIZE, MIDDLE + 2 * SIZE));
	covers_take(&owners[0], MIDDLE, MIDDLE + 2 * SIZE);
	IS("loses it", owners[0].windows, 0);
	TRUE("and has none then",
	     !covers_owned(&owners[0], MIDDLE, MIDDLE + SIZE));
	has("the other one stays", MIDDLE + SIZE, MIDDLE + 2 * SIZE, 1);
	TRUE("its text is not described",
	     !covers_described(MIDDLE, MIDDLE + SIZE));
	IS("it comes back", put(0, MIDDLE), 0);
	has("between the same neighbours", MIDDLE - FRINGE, MIDDLE, 0);
	IS("and four windows are there", nr_windows, 4);
	drop(0);
	drop(1);
	IS("nothing is left of what was taken", nr_windows, 0);
}

int main(void)
{
	test_one();
	test_at_the_ends();
	test_two();
	test_displaced();
	test_forgotten();
	test_stays();
	test_taken();
	return finish();
}
