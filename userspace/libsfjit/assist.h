/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Shared by the files of assisted unwinding. Functions marked "in a handler"
 * are async-signal-safe.
 */
#ifndef SFJIT_LIB_ASSIST_H
#define SFJIT_LIB_ASSIST_H

#include <ucontext.h>

#include "internal.h"

#pragma GCC visibility push(default)
#include <sfjit-assist.h>
#pragma GCC visibility pop

/* ---- The kernel: assist_kernel.c --------------------------------------- */

/* Returns 0, -EOPNOTSUPP or -ENOMEM. */
int sfjit_assist_turn_on(int signal, bool any_stack);
void sfjit_assist_turn_off(void);

/* Whether this thread has opted in, here or elsewhere. */
bool sfjit_assist_is_on(void);

/*
 * In a handler. The first returns the number of frames of the kernel's walk,
 * the second 0; both return -errno on failure.
 */
int sfjit_assist_get(const void *token, uint64_t *frames, unsigned int max);
int sfjit_assist_give(const void *token, const uint64_t *frames,
		      unsigned int nr);

/* ---- Alternate stacks: assist_stack.c ----------------------------------- */

/*
 * Gives this thread an alternate stack if it has none and @wanted. Returns 1 if
 * so, 0 if not, -ENOMEM, or -ENOSPC if its own is too small. Call it with the
 * lock held.
 */
int sfjit_assist_add_stack(bool wanted);

/* In a handler. Whether it runs on another stack or has enough room. */
bool sfjit_assist_has_room(const ucontext_t *context);

/* Returns 0, or -EBUSY if the thread runs on it. */
int sfjit_assist_remove_stack(void);

/* ---- Runtimes: assist_runtimes.c ---------------------------------------- */

/*
 * In a handler. Lets the runtimes insert frames into the first @nr of @frames,
 * which has space for SFJIT_ASSIST_FRAMES. Returns the new number, or -1 if a
 * runtime is not sure.
 */
int sfjit_assist_complete(uint64_t *frames, unsigned int nr,
			  const void *context);

/* ---- Names: assist_book.c, assist_names.c -------------------------------- */

/* Bytes of address space for each name. */
#define SFJIT_ASSIST_NAME_CODE	16

/*
 * @next: for the thread that took the list of new names
 * @begun: for the writer of the perf map
 */
struct sfjit_assist_entry {
	uint64_t	id[2];
	uint32_t	text;
	uint32_t	length;
	uint32_t	next;
	uint32_t	begun;
};

/*
 * In a handler. Names are numbered from 1; 0 is none. If equal names are added
 * concurrently, one is kept and all callers get its number.
 */
uint32_t sfjit_assist_find(const uint64_t id[2]);
uint32_t sfjit_assist_add(const uint64_t id[2], const char *text,
			  uint32_t length);

/*
 * Addresses of names are never reused, as perf maps have no timestamps.
 * Functions that find no free number share this identity.
 */
extern const uint64_t sfjit_assist_shared[2];

/* Whether adding another name will fail and be counted. */
bool sfjit_assist_is_full(void);

/* The highest number. A few lower ones may have no entry: NULL. */
uint32_t sfjit_assist_last(void);
struct sfjit_assist_entry *sfjit_assist_entry(uint32_t number);
uintptr_t sfjit_assist_code(uint32_t number);
const char *sfjit_assist_text(const struct sfjit_assist_entry *entry);

/* The added names, a list linked by @next, newest first. */
bool sfjit_assist_has_new(void);
uint32_t sfjit_assist_take_new(void);

/* Sets @names and @names_full. */
void sfjit_assist_count_names(struct sfjit_assist_stats *stats);

/*
 * In a handler. Writes the names known at the fork to the child's perf map.
 * Returns 0 or -errno.
 */
int sfjit_assist_write_inherited(void);

#endif /* SFJIT_LIB_ASSIST_H */
