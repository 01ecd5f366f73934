// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Making the table of a module. */
#include <stdlib.h>
#include <string.h>

#include "amend.h"
#include "arena.h"
#include "cache.h"
#include "libc.h"
#include "make_table.h"
#include "sys.h"

static enum table_effort effort;

void table_effort(enum table_effort of_now_on)
{
	effort = of_now_on;
}

/* Shared from the first process on, where there is a cache. */
static int keep_table(struct table *table, const struct sfg_output *out,
		      const struct image *image)
{
	struct table cached = { .data = NULL };
	int ret;

	ret = table_choose_windows(table, out->data, out->len, image);
	if (ret)
		return ret;
	if (effort == TABLE_KEEP) {
		cache_store(table, out->data, out->len, image);
		if (!cache_load(&cached, image)) {
			table_free(table);
			*table = cached;
			return 0;
		}
	}
	return table_copy(table, out->data, out->len);
}

static int compare_addresses(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Code without CFI may be called only by others. Less is known without memory. */
static void add_entries(struct sfg_input *in, const struct image *image)
{
	uint64_t *entries = libc_module_functions(image->info, &in->nr_entries);

	if (entries)
		qsort(entries, in->nr_entries, sizeof(*entries),
		      compare_addresses);
	in->entries = entries;
}

static int convert_image(struct table *table, struct image *image,
			 const char **reason)
{
	struct sfg_error err = { .reason = "cannot be converted" };
	struct sfg_output out;
	struct sfg_summary summary;
	struct sfg_input in = {
		.abi = SFG_HOST_ABI,
		.text = image->text,
		.nr_text = image->nr_text,
		.code = image->code,
		.nr_code = image->nr_text,
		.flags = SFG_INPUT_CODE | SFG_INPUT_ADDENDS | SFG_INPUT_PACKED,
		.amend = amend_functions,
	};
	int ret;

	image_measure(image);
	in.cfi = image->cfi;
	add_entries(&in, image);
	in.go = image_find_go(image) ? &image->go : NULL;
	in.flags |= image->is_debug_frame ? SFG_INPUT_DEBUG_FRAME : 0;
	ret = sfg_convert(&in, &out, &summary, &err);
	*reason = err.reason;
	if (ret)
		return ret;
	*reason = "no memory for the table";
	return keep_table(table, &out, image);
}

/* Processes that start together want the same tables. */
static int convert_once(struct table *table, struct image *image,
			const char **reason)
{
	int ret = -ENOENT;

	if (effort == TABLE_KEEP && cache_lock_table(image))
		ret = cache_load(table, image);
	table->from_cache = !ret;
	if (ret)
		ret = convert_image(table, image, reason);
	cache_unlock_table();
	return ret;
}

static int obtain(struct table *table, struct image *image,
		  const char **reason)
{
	int ret;

	table->from_cache = cache_load(table, image) == 0;
	if (table->from_cache)
		return 0;
	*reason = "not in the cache";
	if (effort == TABLE_FIND)
		return -ENOENT;
	ret = convert_once(table, image, reason);
	arena_release();
	return ret;
}

int table_make(struct table *table, struct image *image, const char **reason)
{
	int ret;

	memset(table, 0, sizeof(*table));
	ret = obtain(table, image, reason);
	if (!ret && !table->nr_windows) {
		*reason = "no call frame information";
		ret = -ENOENT;
	}
	if (ret)
		table_free(table);
	return ret;
}

void table_name(struct text *name, const struct image *image)
{
	cache_name(name, image);
}

int table_fill(const struct dl_phdr_info *info, struct fill *fill)
{
	struct table table;
	struct image image;
	int ret;

	ret = image_read(&image, info, &fill->reason);
	if (!ret)
		ret = table_make(&table, &image, &fill->reason);
	if (ret)
		return ret;
	table_name(&fill->name, &image);
	fill->length = table.length;
	fill->was_there = table.from_cache;
	fill->is_there = table.in_cache;
	table_free(&table);
	return 0;
}
