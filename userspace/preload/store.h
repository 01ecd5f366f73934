/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Memory that lives as long as JIT code: its tables and its description.
 * Resident and anonymous, like that of modules (table.h). Many small pieces
 * share a mapping, because a process may have only so many.
 *
 * One thread at a time.
 */
#ifndef SFJIT_PRELOAD_STORE_H
#define SFJIT_PRELOAD_STORE_H

#include <stddef.h>

/* Cleared, aligned to 16; NULL: no memory. */
void *store_get(size_t size);
/* A copy; NULL: no memory. */
void *store_copy(const void *from, size_t size);
/* 'size' as it was asked for. */
void store_put(void *p, size_t size);

#endif /* SFJIT_PRELOAD_STORE_H */
