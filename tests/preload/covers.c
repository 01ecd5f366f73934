// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: windows of text that JITs describe in part, while descriptions
 * come and go in one mapping (built with AddressSanitizer).
 */
#include <stdlib.h>
#include <string.h>

#include <sframegen.h>

#include "../lib/tap.h"
#include "covers.h"
#include "windows.h"

#define MAPPING	0x7f0000100000UL
#define END	(MAPPING + 0x100000)
#define FRINGE	0x10000
#define SIZE	0x400
#define MIDDLE	(MAPPING + 0x80000)

/* ---- What is around it ------------------------------------------------ */

/* In the module a call's memory is an arena, which is freed as a whole. */
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
static bool executable = true;

static struct window *find_key(uintptr_t key)
{
	size_t i;

	for (i = 0; i < nr_windows; i++)
		if (windows[i].key == key)
			return &windows[i];
	return NULL;
}

/* Is there a row for the first byte and for the last, or for neither? */
static unsigned int functions_of(const struct windows_entry *entry)
{
	struct sfjit_function first, last;
	struct sfg_packed table;
	struct sfjit_row row;

	MUST(!((uintptr_t)entry->table % 16));
	MUST(!sfg_open_packed(&table, entry->table, entry->length, NULL));
	MUST(!sfg_check_packed(&table, NULL));
	sfg_find_packed_row(&table, entry->start - entry->bias, &first, &row,
			    NULL);
	sfg_find_packed_row(&table, entry->end - 1 - entry->bias, &last, &row,
			    NULL);
	MUST(!first.size == !last.size);
	return first.size ? 1 : 0;
}

static void set(struct window *window, const struct windows_entry *entry,
		unsigned int functions)
{
	*window = (struct window) {
		entry->key, entry->start, entry->end, functions,
	};
}

static int add(const struct windows_entry *entry, unsigned int functions)
{
	size_t i;

	for (i = 0; i < nr_windows; i++)
		if (entry->start < windows[i].end &&
		    windows[i].start < entry->end)
			return -EEXIST;
	if (!executable)
		return -EINVAL;
	MUST(nr_windows < 16 && !find_key(entry->key));
	set(&windows[nr_windows++], entry, functions);
	return 0;
}

int windows_register(const struct windows_entry *entry)
{
	return add(entry, functions_of(entry));
}

int windows_replace(const struct windows_entry *entry)
{
	struct window *window = find_key(entry->key);

	if (!window)
		return -ENOENT;
	set(window, entry, functions_of(entry));
	return 0;
}

int windows_unregister(uintptr_t key)
{
	struct window *window = find_key(key);

	if (!window)
		return -ENOENT;
	*window = windows[--nr_windows];
	return 0;
}

int self_open_windows(struct self_windows *list)
{
	list->at = 0;
	return 0;
}

void self_close_windows(struct self_windows *list)
{
}

/* The next one that starts at list->at or after. */
bool self_next_window(struct self_windows *list, struct self_window *taken)
{
	struct window *next = NULL;
	size_t i;

	for (i = 0; i < nr_windows; i++)
		if (windows[i].start >= list->at &&
		    (!next || windows[i].start < next->start))
			next = &windows[i];
	if (!next)
		return false;
	*taken = (struct self_window) { next->start, next->end, next->key };
	list->at = next->start + 1;
	return true;
}

/* The text has no readable bytes. */
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
static struct cover_table tables[3];
static struct cover_owner owners[] = {
	{ .tables = &tables[0], .nr_tables = 1 },
	{ .tables = &tables[1], .nr_tables = 1 },
};

/* Of one function that fills its text. */
static void make_table(struct cover_table *table, uintptr_t start)
{
	static const struct sfjit_row row = {
		0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE,
		SFJIT_NO_RULE,
	};
	struct sfjit_function f = {
		.addr = start, .size = SIZE, .nr_rows = 1, .rows = &row,
	};

	struct sfg_output out;

	MUST(!sfg_write_packed(SFG_HOST_ABI, &f, 1, &out, NULL));
	free((void *)table->data);
	*table = (struct cover_table) { start, out.data, out.len };
}

static int put(unsigned int nr, uintptr_t start)
{
	make_table(&tables[nr], start);
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
	has("after it, too", MIDDLE + SIZE, MIDDLE + SIZE + FRINGE, 0);
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
	has("after the first", MAPPING + SIZE, MAPPING + SIZE + FRINGE, 0);
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
	has("and one after it", second + SIZE, second + SIZE + FRINGE, 0);
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

/* Another unit describes it again, as for overwritten code. */
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

/* Memory of a JIT without descriptions has no owner to go with. */
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

/* Parts of a unit that are far apart, or not, have tables of their own. */
static void test_tables(void)
{
	struct cover_owner owner = { .tables = tables, .nr_tables = 3 };
	const uintptr_t start[] = { MAPPING, MIDDLE, MIDDLE + SIZE };
	int i;

	for (i = 0; i < 3; i++)
		make_table(&tables[i], start[i]);
	for (i = 0; i < 3; i++) {
		IS("a part", covers_put(&owner, start[i], start[i] + SIZE, -1,
					&mapping), 0);
		has("has its own table", start[i], start[i] + SIZE, 1);
	}
	IS("a part of a part", covers_put(&owner, start[1] + 8, start[1] + 16,
					  -1, &mapping), 0);
	has("has the same", start[1] + 8, start[1] + 16, 1);
	IS("in the place of all of it", owner.windows, 3);
	covers_drop(&owner, -1);
	IS("nothing is left of the parts", nr_windows, 0);
}

/* ---- Windows of the program ------------------------------------------- */

static int program_registers(uintptr_t key, uintptr_t start, uintptr_t end)
{
	const struct windows_entry entry = {
		.key = key, .start = start, .end = end,
	};

	return add(&entry, 7);
}

/* Like the module's prctl(). */
static int give(uintptr_t key, uintptr_t start, uintptr_t end)
{
	int ret = program_registers(key, start, end);

	if (ret != -EEXIST || !covers_withdraw(start, end))
		return ret;
	ret = program_registers(key, start, end);
	if (ret)
		covers_put_back(start, end);
	else
		covers_give_way(start, end, key);
	return ret;
}

static void program_unregisters(uintptr_t key)
{
	MUST(!windows_unregister(key));
	covers_key_gone(key);
}

#define A	MIDDLE
#define B	(MIDDLE + SIZE)
#define C	(MIDDLE + 2 * SIZE)
#define D	(MIDDLE + 3 * SIZE)

static void test_gives_way(void)
{
	static const struct {
		const char *name;
		uintptr_t start, end;
		int left, right;
	} at[] = {
		{ "inside", B, C, 0, 0 },
		{ "at its start", A, B, -1, 0 },
		{ "at its end", C, D, 0, -1 },
		{ "in its place", A, D, -1, -1 },
		{ "around it", A - SIZE, D + SIZE, -1, -1 },
		{ "over its start", A - SIZE, B, -1, 0 },
		{ "over its end", C, D + SIZE, 0, -1 },
	};
	size_t i;

	for (i = 0; i < sizeof(at) / sizeof(*at); i++) {
		covers_end(A, D);
		IS(at[i].name, give(5, at[i].start, at[i].end), 0);
		has("its window", at[i].start, at[i].end, 7);
		has("stacks end before", A, at[i].start, at[i].left);
		has("and after", at[i].end, D, at[i].right);
		IS("no more windows", nr_windows,
		   3 + at[i].left + at[i].right);
		program_unregisters(5);
		has("all of it again", A, D, 0);
		IS("in one window", nr_windows, 1);
		windows_unregister(windows[0].key);
	}
	TRUE("nothing gives way any more", !covers_any_gave_way());
}

static void test_was_first(void)
{
	IS("a window of the program", program_registers(5, B, C), 0);
	covers_end(A, D);
	has("stacks end before it", A, B, 0);
	has("and after it", C, D, 0);
	has("it stays", B, C, 7);
	program_unregisters(5);
	has("they end all over", A, D, 0);
	IS("nothing else is there", nr_windows, 1);
	covers_end(A, D);
	windows_unregister(windows[0].key);
}

static void test_two_others(void)
{
	covers_end(A, D);
	IS("one", give(5, A, B), 0);
	IS("the next", give(6, B, C), 0);
	IS("over both", give(8, A, D), -EEXIST);
	has("the place between is as it was", C, D, 0);
	IS("three windows", nr_windows, 3);
	program_unregisters(5);
	program_unregisters(6);
	has("all three are one", A, D, 0);
	IS("and alone", nr_windows, 1);
	windows_unregister(windows[0].key);
}

static void test_not_executable(void)
{
	covers_end(A, D);
	IS("a window in text", give(5, B, C), 0);
	executable = false;
	program_unregisters(5);
	TRUE("that is writable when it goes", covers_lost());
	executable = true;
	covers_find_lost(D, D + SIZE);
	TRUE("is not found elsewhere", covers_lost());
	covers_find_lost(A, D);
	has("but there", A, D, 0);
	TRUE("and not lost any more", !covers_lost());
	windows_unregister(windows[0].key);
	covers_forget_gone();
}

static void test_described(void)
{
	IS("a unit", put(0, MIDDLE), 0);
	IS("that the program describes, too",
	   give(5, MIDDLE - SIZE, MIDDLE + SIZE / 2), 0);
	has("the program's counts", MIDDLE - SIZE, MIDDLE + SIZE / 2, 7);
	has("and the unit's beside it", MIDDLE + SIZE / 2, MIDDLE + SIZE, 1);
	program_unregisters(5);
	has("then everywhere", MIDDLE, MIDDLE + SIZE / 2, 1);
	IS("again", give(5, MIDDLE, MIDDLE + SIZE), 0);
	drop(0);
	has("what the program has stays", MIDDLE, MIDDLE + SIZE, 7);
	windows_unregister(5);
	nr_windows = 0;
	covers_forget_gone();
	IS("and there before a unit", program_registers(5, MIDDLE,
							MIDDLE + SIZE), 0);
	IS("it is no error", put(0, MIDDLE), 0);
	has("its neighbourhood is covered", MIDDLE + SIZE,
	    MIDDLE + SIZE + FRINGE, 0);
	drop(0);
	IS("only the program's is left", nr_windows, 1);
	windows_unregister(5);
}

int main(void)
{
	test_gives_way();
	test_was_first();
	test_two_others();
	test_not_executable();
	test_described();
	nr_windows = 0;
	covers_forget_gone();
	test_one();
	test_at_the_ends();
	test_two();
	test_displaced();
	test_forgotten();
	test_stays();
	test_taken();
	test_tables();
	return finish();
}
