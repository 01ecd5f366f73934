/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the program tells debuggers and unwinders about code that it makes.
 * Threads: any; none of these waits for ld.so. errno is kept.
 */
#ifndef SFJIT_PRELOAD_JIT_H
#define SFJIT_PRELOAD_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From now on; until then nothing is noticed. */
void jit_begin(void);

struct jit_bases {
	const void *text, *data;
};

/* 'bases' may be NULL. */
void jit_frames(const void *begin, const struct jit_bases *bases);
/* Pointers to frames, up to one that is NULL. */
void jit_frame_table(const void *table, const struct jit_bases *bases);
void jit_frames_gone(const void *begin);

/* A __jit_debug_descriptor of gdb's interface changed; all that is in it. */
void jit_gdb_event(uintptr_t descriptor);
void jit_gdb_list(uintptr_t descriptor);

/* Memory has become executable; not waited for, so safe in a signal handler. */
void jit_executable(const void *start, size_t length);

/*
 * Memory is about to be mapped over this; jit_executable() has to follow,
 * whether or not it is executable, or was mapped. Not waited for, either.
 */
void jit_replace(const void *start, size_t length);

/* New executable memory with undescribed code: stacks end there. */
void jit_ends(const void *start, size_t length);

/*
 * The program cannot register a window (EEXIST): tries again when none of ours
 * is in its way. Returns what 'again' does, or -EEXIST. The lock is held then.
 */
int jit_give_way(const void *start, size_t length, uintptr_t key,
		 int (*again)(void *request), void *request);

/* The program has unregistered a window. */
void jit_key_gone(uintptr_t key);

#endif /* SFJIT_PRELOAD_JIT_H */
