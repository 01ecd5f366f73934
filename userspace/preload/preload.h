/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The program calls mmap(), mremap() and mprotect(), which may change text that
 * has windows. Neither function waits for a lock: the caller may hold any. errno
 * is kept.
 */
#ifndef SFJIT_PRELOAD_PRELOAD_H
#define SFJIT_PRELOAD_PRELOAD_H

#include <stddef.h>

/*
 * Memory is about to be mapped there, or away; preload_has_mapped() has to
 * follow.
 */
void preload_will_map(const void *start, size_t length);
/* It is mapped, or has become executable. */
void preload_has_mapped(const void *start, size_t length);

#endif /* SFJIT_PRELOAD_PRELOAD_H */
