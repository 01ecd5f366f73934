// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Areas: windows in which functions come and go.
 */
#include <errno.h>
#include <stdlib.h>

#include "area.h"
#include "growing.h"
#include "growing_rules.h"
#include "internal.h"

/* Defaults. Programs have some hundred rules. */
#define LEAST_RULES	256
#define MOST_RULES	4096
#define BYTES_FOR_RULE	64

/*
 * @key: start of the first text, by which the window is registered
 * @divided: its text must not change
 */
struct sfjit_area {
	struct sfjit_growing table;
	uintptr_t	key;
	int		error;
	bool		divided;
};

/* ---- Making one ------------------------------------------------------ */

static int register_area(const struct sfjit_area *area, bool replace)
{
	const struct sfjit_growing *table = &area->table;

	return sfjit_register_growing(area->key, table->start, table->length,
				      (const void *)(uintptr_t)table->text,
				      table->text_length, replace);
}

struct request {
	const void	*text;
	size_t		length, rules, blocks;
};

static int init_area(void *object, const void *how)
{
	const struct request *request = how;
	struct sfjit_area *area = object;
	int ret;

	area->key = (uintptr_t)request->text;
	ret = sfjit_growing_map(&area->table, area->key, request->length,
				request->rules, request->blocks);
	if (!ret)
		area->error = register_area(area, false);
	return ret;
}

static bool is_range(const void *text, size_t length)
{
	return text && length && !sfjit_wraps(text, length) &&
	       !((uintptr_t)text & ((1u << sfjit_growing_unit_shift()) - 1));
}

static size_t at_most(size_t size, size_t most)
{
	return size < most ? size : most;
}

static size_t usual_rules(size_t length)
{
	size_t rules = length / BYTES_FOR_RULE;

	return rules < LEAST_RULES ? LEAST_RULES : at_most(rules, MOST_RULES);
}

int sfjit_area_create(const void *text, size_t length, size_t rules,
		      size_t blocks, struct sfjit_area **result)
{
	const struct request request = {
		text, length, rules ? rules : usual_rules(length),
		/* By default as many bytes as there are of text. */
		blocks ? blocks : at_most(length, SFJIT_MAX_BLOCKS),
	};

	if (!result || !is_range(text, length))
		return -EINVAL;
	return sfjit_create(sizeof(**result), init_area, &request, result);
}

/* ---- Functions come and go ------------------------------------------- */

static bool is_inside(const struct sfjit_growing *table, uint64_t start,
		      size_t size)
{
	return start >= table->text &&
	       start - table->text < table->text_length &&
	       size <= table->text_length - (start - table->text);
}

int sfjit_area_publish(struct sfjit_area *area,
		       const struct sfjit_function *function)
{
	/* Flags are for signal frames and for other architectures. */
	if (!area || !function || function->flags ||
	    !is_inside(&area->table, function->addr, function->size))
		return -EINVAL;
	return sfjit_growing_publish(&area->table, function, 1, 0);
}

int sfjit_area_check_text(const struct sfjit_area *area,
			  const struct sfjit_range *text)
{
	return is_inside(&area->table, (uintptr_t)text->start, text->length) ?
	       0 : -EINVAL;
}

int sfjit_area_publish_all(struct sfjit_area *area,
			   const struct sfjit_function *functions, size_t nr)
{
	return sfjit_growing_publish(&area->table, functions, nr,
				     SFJIT_KEY_UNCHECKED);
}

static uint32_t unit_of(const struct sfjit_growing *table, uintptr_t address)
{
	return (address - table->text) >> table->unit_shift;
}

static bool is_first(const struct sfjit_growing *table, struct sfjit_span span,
		     uint32_t unit)
{
	return span.lo == unit && sfjit_growing_is_first(table, span.id);
}

/*
 * Where the function ends whose rules hold before @unit, if any: at the first
 * unit from there on that is not its own.
 */
static uint32_t end_of_function(const struct sfjit_growing *table,
				uint32_t unit)
{
	struct sfjit_span span;

	for (; unit < table->units; unit = span.hi) {
		span = sfjit_growing_span(table, unit);
		if (span.id == SFJIT_NO_RULE_ID || is_first(table, span, unit))
			return unit;
	}
	return table->units;
}

int sfjit_area_withdraw(struct sfjit_area *area, const void *start)
{
	struct sfjit_growing *table;
	struct sfjit_span span;
	uint32_t unit;

	if (!area)
		return -EINVAL;
	table = &area->table;
	if (!is_inside(table, (uintptr_t)start, 1))
		return -ENOENT;
	unit = unit_of(table, (uintptr_t)start);
	span = sfjit_growing_span(table, unit);
	if (!is_first(table, span, unit) ||
	    table->text + ((uint64_t)unit << table->unit_shift) !=
	    (uintptr_t)start)
		return -ENOENT;
	return sfjit_growing_clear(table, unit,
				   end_of_function(table, span.hi));
}

/* The zones that are in units [lo, hi), and hi is not among them. */
static void free_zones(struct sfjit_growing *table, uint32_t lo, uint32_t hi)
{
	uint64_t first = (uint64_t)lo << table->unit_shift;
	uint64_t end = hi == table->units ?
		       (uint64_t)table->nr_zones * SFJIT_ZONE_SIZE :
		       (uint64_t)hi << table->unit_shift;

	first = (first + SFJIT_ZONE_SIZE - 1) / SFJIT_ZONE_SIZE;
	end /= SFJIT_ZONE_SIZE;
	if (first < end)
		sfjit_growing_free(table, first, end);
}

/* The functions that start in units [lo, hi). */
static int reset_units(struct sfjit_growing *table, uint32_t lo, uint32_t hi)
{
	uint32_t first = end_of_function(table, lo);
	uint32_t end = hi < table->units ? end_of_function(table, hi) : hi;
	int ret;

	if (first >= hi)
		return 0;
	ret = sfjit_growing_clear(table, first, end);
	if (!ret)
		/* Nothing is in the units from lo to first, or a function. */
		free_zones(table, first, end);
	return ret;
}

int sfjit_area_reset(struct sfjit_area *area, const void *start, size_t length)
{
	struct sfjit_growing *table;
	uint32_t lo;

	if (!area || !start != !length)
		return -EINVAL;
	table = &area->table;
	if (!start) {
		sfjit_growing_wipe(table);
		return 0;
	}
	if (sfjit_wraps(start, length) ||
	    !is_inside(table, (uintptr_t)start, length))
		return -EINVAL;
	lo = sfjit_growing_unit_up(table, (uintptr_t)start - table->text);
	return reset_units(table, lo,
			   sfjit_growing_unit_up(table, (uintptr_t)start -
						 table->text + length));
}

void sfjit_area_text(const struct sfjit_area *area, uintptr_t *start,
		     size_t *length, size_t *granule)
{
	*start = area->table.text;
	*length = area->table.text_length;
	*granule = SFJIT_ZONE_SIZE;
}

int sfjit_area_divide(struct sfjit_area *area, bool divide)
{
	if (divide && area->divided)
		return -EBUSY;
	area->divided = divide;
	return 0;
}

bool sfjit_area_is_split(const struct sfjit_area *area, uintptr_t address)
{
	const struct sfjit_growing *table = &area->table;
	struct sfjit_span span;
	uint32_t unit;

	if (!is_inside(table, address, 1))
		return false;
	unit = unit_of(table, address);
	span = sfjit_growing_span(table, unit);
	return span.id != SFJIT_NO_RULE_ID && !is_first(table, span, unit);
}

/* ---- A new table ----------------------------------------------------- */

/*
 * Register again if the first registration failed, or if the kernel removed the
 * window because its text was unmapped.
 */
static int replace_window(struct sfjit_area *area)
{
	int ret = area->error ? -ENOENT : register_area(area, true);

	if (ret == -ENOENT)
		area->error = register_area(area, false);
	return ret == -ENOENT ? 0 : ret;
}

/* Twice as many as are used, if the default is wanted. */
static size_t more_of(size_t wanted, size_t now, size_t used, size_t most)
{
	if (wanted)
		return wanted;
	return at_most(used > now / 2 ? 2 * used : now, most);
}

/* Makes the table, larger ones until all functions are in it. */
static int make_table(struct sfjit_growing *table,
		      const struct sfjit_growing *from,
		      struct request *request)
{
	uintptr_t text = (uintptr_t)request->text;
	int ret;

	for (;;) {
		ret = sfjit_growing_map(table, text, request->length,
					request->rules, request->blocks);
		if (ret)
			return ret;
		ret = sfjit_growing_copy(table, from);
		if (ret != -ENOSPC)
			return ret;
		sfjit_growing_unmap(table);
		if (request->rules == SFJIT_MAX_RULES &&
		    request->blocks == SFJIT_MAX_BLOCKS)
			return -E2BIG;
		request->rules = at_most(2 * request->rules, SFJIT_MAX_RULES);
		request->blocks = at_most(2 * request->blocks,
					  SFJIT_MAX_BLOCKS);
	}
}

/*
 * The first table has the sizes of the old one. If the functions take more than
 * half, make another one.
 */
static int make_usual_table(struct sfjit_growing *table,
			    const struct sfjit_growing *from,
			    struct request *request)
{
	size_t rules = request->rules, blocks = request->blocks, now, used;
	int ret;

	now = sfjit_growing_blocks(from);
	request->rules = more_of(rules, from->nr_rules, 0, SFJIT_MAX_RULES);
	request->blocks = more_of(blocks, now, 0, SFJIT_MAX_BLOCKS);
	ret = make_table(table, from, request);
	if (ret)
		return ret;
	used = sfjit_growing_blocks(table) - sfjit_growing_room(table);
	now = request->blocks;
	request->blocks = more_of(blocks, now, used, SFJIT_MAX_BLOCKS);
	used = request->rules;
	request->rules = more_of(rules, used, table->counters->used_rules,
				 SFJIT_MAX_RULES);
	if (request->blocks == now && request->rules == used)
		return 0;
	sfjit_growing_unmap(table);
	return make_table(table, from, request);
}

static int grow_window(struct sfjit_area *area, struct request *request)
{
	struct sfjit_area new = *area;
	int ret = make_usual_table(&new.table, &area->table, request);

	if (ret)
		return ret;
	ret = replace_window(&new);
	if (ret) {
		sfjit_growing_unmap(&new.table);
		return ret;
	}
	/* If it cannot be unmapped, leak the table; the window is valid. */
	sfjit_growing_unmap(&area->table);
	*area = new;
	return 0;
}

static bool contains(const struct sfjit_area *area, const void *text,
		     size_t length)
{
	const struct sfjit_growing *table = &area->table;
	uintptr_t start = (uintptr_t)text;

	return is_range(text, length) && start <= table->text &&
	       start + length >= table->text + table->text_length;
}

/* Under the lock, so that a forked child has the table of its window. */
int sfjit_area_grow(struct sfjit_area *area, const void *text, size_t length,
		    size_t rules, size_t blocks)
{
	struct request request = { text, length, rules, blocks };
	int ret = -EBUSY;

	if (!area || ((text || length) && !contains(area, text, length)))
		return -EINVAL;
	if (!text) {
		request.text = (const void *)(uintptr_t)area->table.text;
		request.length = area->table.text_length;
	}
	sfjit_lock();
	if (!text || !area->divided)
		ret = grow_window(area, &request);
	sfjit_unlock();
	return ret;
}

/* ---- The end --------------------------------------------------------- */

int sfjit_area_retire(struct sfjit_area *area)
{
	int ret;

	if (!area)
		return 0;
	sfjit_lock();
	/* After a failed registration the key may be another producer's. */
	if (!area->error)
		sfjit_unregister(area->key);
	ret = sfjit_growing_unmap(&area->table);
	sfjit_unlock();
	free(area);
	return ret;
}

static size_t nr_functions(const struct sfjit_growing *table)
{
	struct sfjit_span span;
	uint32_t unit;
	size_t nr = 0;

	for (unit = 0; unit < table->units; unit = span.hi) {
		span = sfjit_growing_span(table, unit);
		nr += is_first(table, span, unit);
	}
	return nr;
}

int sfjit_area_stat(const struct sfjit_area *area, struct sfjit_area_info *stat)
{
	const struct sfjit_growing *table;

	if (!area || !stat)
		return -EINVAL;
	table = &area->table;
	*stat = (struct sfjit_area_info){
		.table = table->start,
		.length = table->length,
		.room = sfjit_growing_room(table),
		.functions = nr_functions(table),
		.rules = __atomic_load_n(&table->counters->used_rules, __ATOMIC_RELAXED),
		.max_rules = table->nr_rules,
		.error = area->error,
	};
	return 0;
}
