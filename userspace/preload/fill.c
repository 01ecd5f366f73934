// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include "cache.h"
#include "fill.h"
#include "make_table.h"

int fill_table(const struct dl_phdr_info *info, struct fill *fill)
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
