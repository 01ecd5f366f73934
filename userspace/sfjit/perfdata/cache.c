// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Files of a recording. */
#include <errno.h>
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

/* A copy has its name from a build-id, which it need not have. */
static int open_copy(const char *dir,
		     const struct sfjit_stacks_mapping *mapping)
{
	struct sfjit_stacks_mapping copy = *mapping;
	char hex[HEX_MOST] = "", path[PATH_MAX];

	to_hex(mapping, hex);
	if (snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s/elf", dir, hex,
		     hex + 2) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	copy.path = path;
	copy.inode = 0;
	return sfjit_stacks_open(0, &copy);
}

int cache_open(void *arg, pid_t pid,
	       const struct sfjit_stacks_mapping *mapping)
{
	const struct perfdata_options *options = arg;
	const struct perfdata_files *files = options->files;
	int fd = sfjit_stacks_open(pid, mapping);

	if (fd >= 0 && files)
		files->opened(files->arg, pid, mapping, fd);
	if (fd >= 0 || fd == -ESTALE || !options->copies ||
	    !mapping->build_id_length)
		return fd;
	return open_copy(options->copies, mapping);
}
