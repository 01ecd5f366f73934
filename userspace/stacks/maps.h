/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a running process has mapped.
 */
#ifndef SFJIT_STACKS_MAPS_H
#define SFJIT_STACKS_MAPS_H

#include <stdio.h>

#include <sfjit-stacks.h>

struct maps {
	FILE *file;
	char *line;
	size_t room;
};

/* 0, or -errno. Close it in either case. */
int maps_open(struct maps *maps, pid_t pid);
void maps_close(struct maps *maps);

/* The next one, valid up to the next call; false: there are no more. */
bool maps_next(struct maps *maps, struct sfjit_stacks_mapping *mapping);

#endif /* SFJIT_STACKS_MAPS_H */
