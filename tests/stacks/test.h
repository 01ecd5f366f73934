/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* This process as a tracker sees it. */
#ifndef STACKS_TEST_H
#define STACKS_TEST_H

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <sfjit-stacks.h>

#include "tap.h"

/* A line of /proc/self/maps; 'path' has room for 256 bytes. */
static inline bool read_mapping(FILE *maps, struct sfjit_stacks_mapping *m,
				char *path)
{
	char line[512], perms[5];
	uint64_t end;

	if (!fgets(line, sizeof(line), maps))
		return false;
	memset(m, 0, sizeof(*m));
	path[0] = '\0';
	MUST(sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64
		    " %255[^\n]", &m->start, &end, perms, &m->offset, &m->inode,
		    path) >= 5);
	m->length = end - m->start;
	m->executable = perms[2] == 'x';
	m->path = path;
	return true;
}

/* All that is mapped now, as from a time on. */
static inline void track_self(struct sfjit_stacks *stacks, pid_t pid,
			      uint64_t time)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct sfjit_stacks_mapping m;
	char path[256];

	MUST(maps);
	while (read_mapping(maps, &m, path))
		MUST(!sfjit_stacks_mmap(stacks, pid, time, &m));
	fclose(maps);
}

/* What a callback found. */
struct found {
	struct sfjit_stacks_frame frame[SFJIT_STACKS_MAX_FRAMES];
	int nr;
	enum sfjit_stacks_reason end;
};

static inline int keep_frame(void *arg, const struct sfjit_stacks_frame *frame)
{
	struct found *found = arg;

	found->frame[found->nr++] = *frame;
	return 0;
}

static inline int find_frames(struct sfjit_stacks *stacks,
			      const struct sfjit_stacks_sample *sample,
			      struct found *found)
{
	found->nr = 0;
	return sfjit_stacks_frames(stacks, sample, keep_frame, found,
				   &found->end);
}

#endif /* STACKS_TEST_H */
