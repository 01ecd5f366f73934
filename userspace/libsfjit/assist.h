/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the files of assisted unwinding share. What says "in a handler" is
 * called there, and is async-signal-safe.
 */
#ifndef SFJIT_LIB_ASSIST_H
#define SFJIT_LIB_ASSIST_H

#include <ucontext.h>

#include "internal.h"

#pragma GCC visibility push(default)
#include <sfjit-assist.h>
#pragma GCC visibility pop

/* ---- The kernel: assist_kernel.c --------------------------------------- */

/* 0, -EOPNOTSUPP or -ENOMEM. */
int sfjit_assist_turn_on(int signal, bool any_stack);
void sfjit_assist_turn_off(void);

/* Whether this thread has opted in, by whomever. */
bool sfjit_assist_is_on(void);

/*
 * In a handler. The number of frames of the kernel's walk, or 0 or -errno; and
 * 0 or -errno.
 */
int sfjit_assist_get(const void *token, uint64_t *frames, unsigned int max);
int sfjit_assist_give(const void *token, const uint64_t *frames,
		      unsigned int nr);

/* ---- Alternate stacks: assist_stack.c ----------------------------------- */

/*
 * Gives this thread one if it has none and it is wanted: 1 if so, 0, -ENOMEM, or
 * -ENOSPC: it has a small one. Under the lock.
 */
int sfjit_assist_add_stack(bool wanted);

/* In a handler: is it on another stack, or has this one room? */
bool sfjit_assist_has_room(const ucontext_t *context);

/* 0, or -EBUSY: the thread is on it. */
int sfjit_assist_remove_stack(void);

/* ---- Runtimes: assist_runtimes.c ---------------------------------------- */

/*
 * In a handler. Has the runtimes insert frames into the @nr that are there;
 * @frames has space for SFJIT_ASSIST_FRAMES. Returns how many there are then,
 * or -1: a runtime is not sure.
 */
int sfjit_assist_complete(uint64_t *frames, unsigned int nr,
			  const void *context);

/* ---- Names: assist_book.c, assist_names.c -------------------------------- */

/* Bytes of the perf map for a name. */
#define SFJIT_ASSIST_NAME_CODE	16

/*
 * A name of the book. @next is for who has taken the list of new ones, @begun
 * for who writes the perf map.
 */
struct sfjit_assist_entry {
	uint64_t	id[2];
	uint32_t	text;
	uint32_t	length;
	uint32_t	next;
	uint32_t	begun;
};

/*
 * All in a handler. A name has a number from 1; 0 is none. Of equal ones that
 * are added at the same time one is, and all get its number.
 */
uint32_t sfjit_assist_find(const uint64_t id[2]);
uint32_t sfjit_assist_add(const uint64_t id[2], const char *text,
			  uint32_t length);

/*
 * Names have their addresses for ever, so none is released: perf maps have no
 * times. Functions for which none is left share this one.
 */
extern const uint64_t sfjit_assist_shared[2];

/* Whether an addition of another will fail, which then is counted. */
bool sfjit_assist_is_full(void);

/* The highest number. Of lower ones a few may have no entry: NULL. */
uint32_t sfjit_assist_last(void);
struct sfjit_assist_entry *sfjit_assist_entry(uint32_t number);
uintptr_t sfjit_assist_code(uint32_t number);
const char *sfjit_assist_text(const struct sfjit_assist_entry *entry);

/* Those that were added, in a list by @next, the last one first. */
bool sfjit_assist_has_new(void);
uint32_t sfjit_assist_take_new(void);

/* Fills @names and @names_full. */
void sfjit_assist_count_names(struct sfjit_assist_stats *stats);

/*
 * In a handler. Writes to a child's perf map what was known at the fork: 0 or
 * -errno.
 */
int sfjit_assist_write_inherited(void);

#endif /* SFJIT_LIB_ASSIST_H */
