// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Files of a recording. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "cache.h"

#define HEX_MOST	(2 * SFJIT_STACKS_BUILD_ID_MAX + 1)

static void to_hex(const struct sfjit_stacks_mapping *mapping,
		   char hex[HEX_MOST])
{
	int i;

	for (i = 0; i < mapping->build_id_length; i++)
		sprintf(hex + 2 * i, "%02x", mapping->build_id[i]);
}

/* Paths and build-ids come from the recording: FIFOs are not waited for. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int open_copy(const char *dir,
		     const struct sfjit_stacks_mapping *mapping)
{
	char hex[HEX_MOST] = "", path[PATH_MAX];

	to_hex(mapping, hex);
	if (snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s/elf", dir, hex,
		     hex + 2) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return open_file(path);
}

int cache_open(void *dir, const struct sfjit_stacks_mapping *mapping)
{
	int fd = dir && mapping->build_id_length ? open_copy(dir, mapping) :
						   -ENOENT;

	return fd >= 0 ? fd : open_file(mapping->path);
}
