// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* /proc/PID/maps: proc(5). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"

int maps_open(struct maps *maps, pid_t pid)
{
	char path[32];

	*maps = (struct maps){ };
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps->file = fopen(path, "re");
	return maps->file ? 0 : -errno;
}

void maps_close(struct maps *maps)
{
	free(maps->line);
	if (maps->file)
		fclose(maps->file);
}

/* Memory without a file has no path here, and this one in events. */
static const char *path_of(char *rest)
{
	rest[strcspn(rest, "\n")] = '\0';
	return *rest ? rest : "//anon";
}

bool maps_next(struct maps *maps, struct sfjit_stacks_mapping *m)
{
	char access[5];
	uint64_t end;
	int path = 0;

	*m = (struct sfjit_stacks_mapping){ };
	if (getline(&maps->line, &maps->room, maps->file) < 0 ||
	    sscanf(maps->line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64
		   " %x:%x %" SCNu64 " %n", &m->start, &end, access,
		   &m->offset, &m->device_major, &m->device_minor, &m->inode,
		   &path) < 7)
		return false;
	m->length = end - m->start;
	m->executable = access[2] == 'x';
	m->path = path_of(maps->line + path);
	return true;
}
