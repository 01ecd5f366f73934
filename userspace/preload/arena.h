/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * malloc() of libsframegen inside this module. The program's allocator may be
 * its own, may be in the middle of being set up, and is none of our business.
 */
#ifndef SFJIT_PRELOAD_ARENA_H
#define SFJIT_PRELOAD_ARENA_H

/* Gives back everything that was allocated since the last call. */
void arena_release(void);

#endif /* SFJIT_PRELOAD_ARENA_H */
