// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Tables by number and places in order of time, against plain lists; ends whose
 * names have equal hashes.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "ends.h"
#include "table.h"

#define KEYS	512
#define CHANGES	20000

static bool known[KEYS];
static uint64_t values[KEYS];

/* Some are neighbours, some have the same low bits. */
static uint64_t key_of(unsigned int i)
{
	return i % 2 ? i : (uint64_t)i << 40;
}

static bool change(struct table *table, unsigned int i)
{
	uint64_t *value;

	if (rand() % 2) {
		table_remove(table, key_of(i));
		known[i] = false;
		return true;
	}
	value = table_add(table, key_of(i));
	if (!value || *value != (known[i] ? values[i] : 0))
		return false;
	*value = values[i] = rand();
	known[i] = true;
	return true;
}

static bool is_right(const struct table *table)
{
	const uint64_t *value;
	unsigned int i;

	for (i = 0; i < KEYS; i++) {
		value = table_find(table, key_of(i));
		if (!value != !known[i] || (value && *value != values[i]))
			return false;
	}
	return true;
}

static void test_table(void)
{
	struct table table = { };
	bool right = true;
	int i;

	TRUE("table: nothing is in an empty one", is_right(&table));
	table_remove(&table, 1);
	for (i = 0; i < CHANGES && right; i++)
		right = change(&table, rand() % KEYS) &&
			(i % 50 || is_right(&table));
	TRUE("table: what was added and not removed", right);
	TRUE("table: places are used again", table.room <= 2 * KEYS);
	table_free(&table);
}

static void test_order(void)
{
	struct ordered next, last = { };
	struct order order = { };
	bool right = true;
	uint64_t i, taken = 0;

	for (i = 0; i < CHANGES; i++) {
		MUST(!order_add(&order, 1000 + rand() % 5000, i));
		if (i % 1000 != 999)
			continue;
		order_sort(&order);
		for (last.time = 0; order_take(&order, 3000, &next); taken++) {
			right &= next.time > last.time ||
				 (next.time == last.time &&
				  next.offset > last.offset);
			last = next;
		}
	}
	TRUE("order: by time, then by place", right && taken > 1000);
	order_sort(&order);
	while (order_take(&order, UINT64_MAX, &next))
		taken += next.time > 3000;
	IS("order: each once", taken, CHANGES);
	order_free(&order);
}

static void add_end(struct ends *ends, const char *module, uint64_t samples)
{
	struct perfdata_end end = { .module = module, .samples = samples };

	MUST(ends_add(ends, &end) >= 0);
}

static void test_ends(void)
{
	struct perfdata_ends found = { };
	struct ends ends = { };

	/* 31 times the first byte, and the second */
	add_end(&ends, "Aa", 1);
	add_end(&ends, "BB", 2);
	add_end(&ends, "C#", 0);
	add_end(&ends, "Aa", 4);
	ends_take(&ends, &found);
	IS("ends: without those of no sample", found.nr, 2);
	IS("ends: the most samples first", found.list[0].samples, 5);
	TRUE("ends: their name", !strcmp(found.list[0].module, "Aa"));
	IS("ends: another name of the same hash", found.list[1].samples, 2);
	perfdata_ends_free(&found);
}

int main(void)
{
	test_table();
	test_ends();
	test_order();
	return finish();
}
