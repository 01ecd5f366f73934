/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * malloc() of libsframegen inside this module. The program's allocator may not
 * be initialised yet, and must not see allocations that are not its own.
 */
#ifndef SFJIT_PRELOAD_ARENA_H
#define SFJIT_PRELOAD_ARENA_H

#include <stdbool.h>

struct arena {
	struct chunk *chunks;
	bool keeps;	/* one chunk for the next time: it is used often */
};

/*
 * This thread, with the lock that belongs to the arena, allocates from it.
 * Returns the one before.
 */
struct arena *arena_enter(struct arena *arena);

/* Gives back everything that was allocated since the last call. */
void arena_release(void);

#endif /* SFJIT_PRELOAD_ARENA_H */
