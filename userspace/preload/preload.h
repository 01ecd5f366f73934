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

/* Memory is about to be mapped there, or away; remap_done() has to follow. */
void remap_replace(const void *start, size_t length);
/* It is mapped, or has become executable. */
void remap_done(const void *start, size_t length);

#endif /* SFJIT_PRELOAD_PRELOAD_H */
