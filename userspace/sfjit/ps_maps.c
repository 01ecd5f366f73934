// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Files of /proc/PID, and which mapping an address belongs to. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ps.h"
#include "util.h"

char *ps_keep_name(const char *name, size_t *bytes)
{
	size_t length = strlen(name) + 1;

	/* A name may have 16 KiB, and as many owners as there are windows. */
	if (length > PS_MOST_NAMES - *bytes)
		return NULL;
	*bytes += length;
	return check_alloc(strdup(name));
}

static FILE *open_in_dir(const char *dir, const char *name, const char *mode)
{
	FILE *file;
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	file = fopen(path, mode);
	free(path);
	return file;
}

FILE *ps_open(const char *dir, const char *name)
{
	return open_in_dir(dir, name, "re");
}

/* The module's file has the windows of the process whose number is written. */
FILE *ps_open_sframe(const char *dir)
{
	FILE *file = ps_open(dir, "sframe");
	int error;

	if (file || errno != ENOENT)
		return file;
	file = open_in_dir(dir, "../sfjit", "r+e");
	if (!file || dprintf(fileno(file), "%s", strrchr(dir, '/') + 1) > 0)
		return file;
	error = errno;
	fclose(file);
	errno = error;
	return NULL;
}

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
	check_grow(&maps->maps, &maps->max, maps->nr, sizeof(*maps->maps));
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

static int compare_address(const void *key, const void *member)
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
		       compare_address);
}
