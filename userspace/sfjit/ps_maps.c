// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* /proc/PID/maps: which mapping an address belongs to. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check_alloc.h"
#include "ps.h"
#include "ps_util.h"

static int parse_map(struct ps_map *map, char *line, size_t *name_bytes)
{
	int name = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %"
		   SCNu64 " %n", &map->start, &map->end, map->permissions,
		   &map->offset, &map->major, &map->minor, &map->inode,
		   &name) != 7 || !name)
		return -EPROTO;
	map->name = ps_keep_name(line[name] ? line + name : "[anon]",
				 name_bytes);
	return map->name ? 0 : -E2BIG;
}

static int add_map(struct ps_maps *maps, char *line)
{
	int ret;

	if (maps->nr == PS_MOST)
		return -E2BIG;
	/* Grows when the number is a power of two. */
	if (!(maps->nr & (maps->nr - 1)))
		maps->maps = check_alloc(reallocarray(
				maps->maps, maps->nr ? 2 * maps->nr : 1,
				sizeof(*maps->maps)));
	ret = parse_map(&maps->maps[maps->nr], line, &maps->name_bytes);
	maps->nr += !ret;
	return ret;
}

int ps_read_maps(struct ps_maps *maps, const char *dir)
{
	FILE *file = ps_open(dir, "maps");
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	if (!file)
		return -errno;
	memset(maps, 0, sizeof(*maps));
	while (!ret && getline(&line, &size, file) > 0)
		ret = add_map(maps, line);
	if (!ret && ferror(file))
		ret = -errno;
	free(line);
	fclose(file);
	return ret;
}

void ps_free_maps(struct ps_maps *maps)
{
	size_t i;

	for (i = 0; i < maps->nr; i++)
		free(maps->maps[i].name);
	free(maps->maps);
}

static int compare(const void *key, const void *member)
{
	const struct ps_map *map = member;
	uint64_t address = *(const uint64_t *)key;

	return address < map->start ? -1 : address >= map->end;
}

const struct ps_map *ps_find_map(const struct ps_maps *maps, uint64_t address)
{
	if (!maps->nr)
		return NULL;
	return bsearch(&address, maps->maps, maps->nr, sizeof(*maps->maps),
		       compare);
}
