// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Making the table of a module. */
#include <string.h>

#include "arena.h"
#include "cache.h"
#include "make_table.h"
#include "sys.h"

static bool addends;

void table_addends(void)
{
	addends = true;
}

static int convert(struct table *table, const struct image *image,
		   const char **reason)
{
	struct sfg_error err = { .reason = "cannot be converted" };
	struct sfg_output out;
	struct sfg_summary summary;
	struct sfg_input in = {
		.abi = SFG_HOST_ABI,
		.cfi = image->cfi,
		.text = image->text,
		.nr_text = image->nr_text,
		.flags = addends ? SFG_INPUT_ADDENDS : 0,
	};
	int ret;

	ret = sfg_convert(&in, &out, &summary, &err);
	*reason = err.reason;
	if (ret)
		return ret;
	*reason = "no memory for the table";
	ret = table_alloc(table, out.len);
	if (ret)
		return ret;
	memcpy(table->data, out.data, out.len);
	cache_store(out.data, out.len, image, addends);
	return 0;
}

static int obtain(struct table *table, const struct image *image,
		  const char **reason)
{
	int ret;

	table->from_cache = cache_load(table, image, addends) == 0;
	if (table->from_cache)
		return 0;
	ret = convert(table, image, reason);
	arena_release();
	return ret;
}

static int seal(struct table *table, uintptr_t bias)
{
	const struct sframe_header *header = table->data;

	table->rows = header->num_fres;
	sfg_rebase(table->data, table->length,
		   bias - (uintptr_t)table->data);
	return SYS(SYS_mprotect, table->data, table->mapped, PROT_READ);
}

int table_make(struct table *table, const struct image *image,
	       const char **reason)
{
	const struct sframe_header *header;
	int ret;

	memset(table, 0, sizeof(*table));
	ret = obtain(table, image, reason);
	if (ret)
		return ret;
	header = table->data;
	*reason = "no call frame information";
	ret = header->num_fdes ? seal(table, image->bias) : -ENOENT;
	if (ret)
		table_free(table);
	return ret;
}
