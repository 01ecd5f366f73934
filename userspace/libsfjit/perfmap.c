// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Names as lines of /tmp/perf-PID.map.
 */
#include <errno.h>
#include <stdio.h>

#include "assist.h"
#include "file.h"

static struct sfjit_file map = { .prefix = "perf", .suffix = "map" };

int sfjit_write_name(const void *start, size_t length, const char *name)
{
	char line[2 * 16 + 3 + SFJIT_NAME_BYTES + 1];
	size_t used;

	used = sprintf(line, "%lx %zx ", (unsigned long)start, length);
	used += sfjit_clean_name(line + used, name);
	line[used++] = '\n';
	return sfjit_write_line(&map, line, used);
}

int sfjit_perf_map_name(const void *start, size_t length, const char *name)
{
	int ret;

	if (!length || sfjit_wraps(start, length))
		return -EINVAL;
	if (!name || !*name)
		return -EINVAL;
	ret = sfjit_lock_for_new();
	if (ret)
		return ret;
	ret = sfjit_write_name(start, length, name);
	sfjit_unlock();
	return ret;
}

int sfjit_perf_map_sync(void)
{
	int ret, also;

	sfjit_lock();
	ret = sfjit_sync_file(&map);
	sfjit_unlock();
	also = sfjit_assist_write_inherited();
	return ret ? ret : also;
}
