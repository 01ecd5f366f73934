/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * One process whose threads change its windows in all ways at once, while it is
 * sampled, forks, and is inspected.
 *
 * The address space is cut into parts. In each, we know what must be
 * registered, whatever happens in the others: it never changes, one thread
 * changes it, or we count successful calls.
 */
#ifndef RACE_H
#define RACE_H

#include <pthread.h>

#include "check.h"
#include "sample.h"
#include "spin.h"

enum {
	CHECK_FP,
	CHECK_DEFER,
	CHECK_REPLACED_FP,
	CHECK_REPLACED_DEFER,
	CHECK_OVERTAKEN,
	CHECK_TOGGLED,
	CHECK_POISON,
	CHECK_RECORDS,
	CHECK_ERRNO,
	CHECK_CROWD,
	CHECK_QUIET,
	CHECK_KEPT,
	CHECK_PROC_SELF,
	CHECK_PROC_OTHER,
	CHECK_CHILD,
	CHECK_EXEC,
	CHECK_KILL,
	CHECK_THREAD,
	CHECK_ORPHAN,
	NR_CHECKS
};

extern struct check *checks;

/* ---- race.c -------------------------------------------------------------- */

bool race_over(void);
/*
 * Bracket each change with these. At a quiet point no thread is inside, so be
 * quick.
 */
void change_begin(void);
void change_end(void);
/* One of the formats, by chance. */
bool maybe_packed(uint64_t *rng);
void thread_start(void *(*fn)(void *), void *arg);

/* ---- area.c: what must be registered ------------------------------------- */

/**
 * struct window - a window that is registered, or NULL section
 * @start:	of its text
 * @end:	of its text
 * @key:	name
 * @section:	address of its section, or packed table
 * @length:	of that
 * @packed:	a packed table
 */
struct window {
	unsigned long	start;
	unsigned long	end;
	unsigned long	key;
	unsigned long	section;
	unsigned long	length;
	bool		packed;
};

/* Churned windows are in slots, each followed by a page with a kept one. */
#define SLOT_PAGES	4
#define SLOT_SIZE	(SLOT_PAGES * SFT_PAGE)
#define SLOT_STRIDE	(SLOT_SIZE + SFT_PAGE)
#define NR_CHURNERS	3
#define NR_SLOTS	32
#define NR_KEPT		(NR_CHURNERS * NR_SLOTS)

/* Where windows collide. */
#define CROWD_PAGES	64
#define CROWD_KEYS	64
/* Where they are unmapped by a thread that does not know of them. */
#define RUIN_PAGES	64
#define RUIN_KEYS	64

struct area {
	unsigned long	slots;
	unsigned long	crowd;
	unsigned long	ruin;
	struct window	kept[NR_KEPT];
	struct window	left;		/* not in children */
	struct window	churned[NR_CHURNERS][NR_SLOTS];
	long		crowd_keys[CROWD_KEYS];
};

extern struct area area;

int area_init(void);
unsigned long slot_start(unsigned int nr);
/* Give it a section or table that fits every text. */
void any_table(struct window *window);
int window_register(const struct window *window, __u32 flags);
bool window_same(const struct window *a, const struct window *b);
unsigned long crowd_key(unsigned int nr);
unsigned long ruin_key(unsigned int nr);

/* ---- churn.c ------------------------------------------------------------- */

void *churn_run(void *arg);
void *crowd_run(void *arg);
void *ruin_run(void *arg);
void *demolish_run(void *arg);
/* At the end: no window is left of a part that is unmapped. */
void ruin_check(void);

/* ---- swap.c: code that runs, and changes of its windows ------------------ */

int swap_init(void);
void *spin_run(void *arg);
void *replace_run(void *arg);
void *toggle_run(void *arg);
#define NR_SPINNERS	3
/* Is @window what has to be registered for code that runs? */
bool swap_owns(const struct window *window);
unsigned int swap_windows(void);
/* Where windows start that are there all the time, if not the same ones. */
unsigned int swap_always(void);
unsigned long swap_start(unsigned int nr);
/* Run functions below each other, once. */
void spin_once(void);
/* Sample the calling thread, which does something else. */
void swap_sample_other(void);
/* At the end: how often a walk was overtaken. */
void swap_check(void);

/* ---- storm.c ------------------------------------------------------------- */

void *fork_run(void *arg);
void *exec_run(void *arg);
void *thread_run(void *arg);
/* The program that a child executes. */
#define AFTER_EXEC	"--after-exec"
int after_exec(void);

/* ---- proc.c -------------------------------------------------------------- */

void *reader_run(void *arg);

/**
 * struct listing - what is read from /proc/PID/sframe
 * @nr:		window lines
 * @told:	number in the line "windows"
 * @lines:	windows
 */
#define MAX_LINES	2048
struct listing {
	unsigned int	nr;
	unsigned int	told;
	struct window	lines[MAX_LINES];
};

/* Read @path in pieces of @piece bytes. NULL, or what is wrong with it. */
const char *listing_read(struct listing *listing, const char *path,
			 size_t piece);
/* NULL, or what is wrong with the windows that never change. */
const char *listing_kept(const struct listing *listing);
/* At a quiet point: compare each window of this process. */
void quiet_check(void);

/* ---- leak.c -------------------------------------------------------------- */

/* Make the cgroup; 0 or -errno. */
int leak_init(void);
/* Note how much there is meanwhile, for the reader. */
void leak_watch(void);
/* Run @fn(@arg) in a child with its own memory cgroup; its exit status. */
int leak_run(int (*fn)(double), double arg);
/* Remember what the kernel has now, when nothing runs. */
void leak_begin(void);
/* Has it the same again? Prints lines; says whether it failed. */
void leak_end(void);

#endif /* RACE_H */
