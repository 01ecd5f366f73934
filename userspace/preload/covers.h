/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The windows of code that JITs describe. They also cover undescribed text next
 * to it, in the same mapping and within 64 KiB: the frame pointer there mostly
 * belongs to another function. Jumps through a pointer, which linkers put
 * there, have a rule; stacks end at any other instruction.
 *
 * All this gives way to windows that the program registers, before or after:
 * it knows better.
 *
 * One thread at a time, with an arena.
 */
#ifndef SFJIT_PRELOAD_COVERS_H
#define SFJIT_PRELOAD_COVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "self.h"

/* A packed table, and where the code begins that it is for. */
struct cover_table {
	uintptr_t start;
	const void *data;
	size_t length;
};

/* Whose windows these are. Its tables are sorted, and each window is of one. */
struct cover_owner {
	const struct cover_table *tables;
	unsigned int nr_tables, windows;
};

/*
 * Covers a part of a mapping. Earlier descriptions lose their windows there:
 * the code was overwritten, or is described again.
 */
int covers_put(struct cover_owner *owner, uintptr_t start, uintptr_t end,
	       int mappings, const struct self_mapping *mapping);

/* New memory, in which stacks end but where the program has windows. */
void covers_end(uintptr_t start, uintptr_t end);

/* A part of it is described. */
bool covers_described(uintptr_t start, uintptr_t end);

/* It has windows there. */
bool covers_owned(const struct cover_owner *owner, uintptr_t start,
		  uintptr_t end);

/* Takes them away. */
void covers_take(const struct cover_owner *owner, uintptr_t start,
		 uintptr_t end);

void covers_drop(struct cover_owner *owner, int mappings);

/* Forget the windows that the kernel has dropped with their text. */
void covers_forget_gone(void);

/*
 * The program cannot register a window, as those of covers may be in its way:
 * withdraws them. False: none is there. After the next attempt comes one of the
 * two calls below.
 */
bool covers_withdraw(uintptr_t start, uintptr_t end);
/* It succeeded: what is beside the window is covered again. */
void covers_give_way(uintptr_t start, uintptr_t end, uintptr_t key);
/* It failed for another reason. */
void covers_put_back(uintptr_t start, uintptr_t end);

/* The program has unregistered its window: covers return. Any thread may ask
 * whether there are some.
 */
bool covers_any_gave_way(void);
void covers_key_gone(uintptr_t key);

/*
 * Some could not return, as the text was not executable. Any thread may ask; if
 * so, it says what has become executable.
 */
bool covers_lost(void);
void covers_find_lost(uintptr_t start, uintptr_t end);

#endif /* SFJIT_PRELOAD_COVERS_H */
