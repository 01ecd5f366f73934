// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Numbers by number: open addressing, at most three quarters full. */
#include <errno.h>
#include <grow.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct table_entry {
	uint64_t key, value;
	bool used;
};

#define LEAST	16

/* Keys come from files: neighbours must not share a place, any others may. */
static size_t home(const struct table *table, uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ULL >> 32) & (table->room - 1);
}

static struct table_entry *place(const struct table *table, uint64_t key)
{
	size_t i = home(table, key);

	while (table->entries[i].used && table->entries[i].key != key)
		i = (i + 1) & (table->room - 1);
	return &table->entries[i];
}

static bool grow_table(struct table *table)
{
	struct table old = *table;
	size_t i;

	table->room = old.room ? old.room * 2 : LEAST;
	table->entries = calloc(table->room, sizeof(*table->entries));
	if (!table->entries) {
		*table = old;
		return false;
	}
	for (i = 0; i < old.room; i++)
		if (old.entries[i].used)
			*place(table, old.entries[i].key) = old.entries[i];
	free(old.entries);
	return true;
}

uint64_t *table_find(const struct table *table, uint64_t key)
{
	struct table_entry *entry = table->room ? place(table, key) : NULL;

	return entry && entry->used ? &entry->value : NULL;
}

uint64_t *table_add(struct table *table, uint64_t key)
{
	uint64_t *value = table_find(table, key);
	struct table_entry *entry;

	if (value)
		return value;
	if (table->used >= table->room / 4 * 3 && !grow_table(table))
		return NULL;
	entry = place(table, key);
	*entry = (struct table_entry){ .key = key, .used = true };
	table->used++;
	return &entry->value;
}

/* What follows without a gap may have been put there because of it. */
void table_remove(struct table *table, uint64_t key)
{
	struct table_entry *entry = table->room ? place(table, key) : NULL;
	struct table_entry moved;
	size_t i;

	if (!entry || !entry->used)
		return;
	entry->used = false;
	table->used--;
	i = entry - table->entries;
	while (i = (i + 1) & (table->room - 1), table->entries[i].used) {
		moved = table->entries[i];
		table->entries[i].used = false;
		*place(table, moved.key) = moved;
	}
}

void table_free(struct table *table)
{
	free(table->entries);
	*table = (struct table){ };
}

void order_free(struct order *order)
{
	free(order->list);
}

int order_add(struct order *order, uint64_t time, uint64_t offset)
{
	if (!grow_array(&order->list, &order->max, order->nr,
			sizeof(*order->list)))
		return -ENOMEM;
	order->list[order->nr++] = (struct ordered){ time, offset };
	return 0;
}

static int compare_times(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

void order_sort(struct order *order)
{
	if (!order->nr)
		return;
	order->nr -= order->first;
	memmove(order->list, order->list + order->first,
		order->nr * sizeof(*order->list));
	order->first = 0;
	qsort(order->list, order->nr, sizeof(*order->list), compare_times);
}

bool order_take(struct order *order, uint64_t until, struct ordered *next)
{
	if (order->first == order->nr || order->list[order->first].time > until)
		return false;
	*next = order->list[order->first++];
	return true;
}
