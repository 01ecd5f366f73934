// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Threads that change windows: each its own ones, whose state it knows, and
 * all of them those where they collide.
 */
#include "race.h"

/* ---- one thread, its own windows ----------------------------------------- */

/**
 * struct churner - a thread that changes windows of its own
 * @nr:		of the thread
 * @rng:	random numbers
 * @slot:	start of the slot in question
 * @window:	what is registered there
 */
struct churner {
	unsigned int	nr;
	uint64_t	rng;
	unsigned long	slot;
	struct window	*window;
};

static bool there(const struct window *window)
{
	return window->section;
}

static void gone(struct window *window)
{
	window->section = 0;
}

static bool contains(const struct window *outer, const struct window *inner)
{
	return outer->start <= inner->start && outer->end >= inner->end;
}

static bool overlaps(const struct window *window, unsigned long start,
		     unsigned long end)
{
	return there(window) && window->start < end && window->end > start;
}

/* A range in the slot; by chance from its start or to its end. */
static struct window propose(struct churner *churner)
{
	unsigned long a = rng_below(&churner->rng, SLOT_SIZE);
	unsigned long b = rng_below(&churner->rng, SLOT_SIZE);
	unsigned int whole = rng_below(&churner->rng, 4);
	struct window window = {
		.start = churner->slot + (whole & 1 ? 0 : a < b ? a : b),
		.end = churner->slot + (whole & 2 ? SLOT_SIZE :
					(a < b ? b : a) + 1),
		.key = churner->slot,
		.packed = maybe_packed(&churner->rng),
	};

	any_table(&window);
	return window;
}

static bool expect(const char *call, int ret, int expected)
{
	return check_that(&checks[CHECK_ERRNO], ret == expected,
			  "%s: %d instead of %d", call, ret, expected);
}

static void try_register(struct churner *churner)
{
	struct window window = propose(churner);
	int ret = window_register(&window, 0);

	expect("register", ret, there(churner->window) ? -EBUSY : 0);
	if (!ret)
		*churner->window = window;
}

static void try_replace(struct churner *churner)
{
	struct window window = propose(churner);
	int ret = window_register(&window, SFRAME_WINDOW_REPLACE);
	int expected = 0;

	if (!there(churner->window))
		expected = -ENOENT;
	else if (!contains(&window, churner->window))
		expected = -EINVAL;
	expect("replace", ret, expected);
	if (!ret)
		*churner->window = window;
}

/* Into the neighbour that is always there. */
static void try_overlap(struct churner *churner)
{
	struct window window = propose(churner);
	int expected = -EEXIST, ret;

	window.end = churner->slot + SLOT_SIZE + 1;
	if (rng_below(&churner->rng, 2)) {
		window.key++;
		ret = window_register(&window, 0);
	} else {
		ret = window_register(&window, SFRAME_WINDOW_REPLACE);
		if (!there(churner->window))
			expected = -ENOENT;
		else if (!contains(&window, churner->window))
			expected = -EINVAL;
	}
	expect("overlap", ret, expected);
}

static void try_unregister(struct churner *churner)
{
	expect("unregister", sft_unregister(churner->slot),
	       there(churner->window) ? 0 : -ENOENT);
	gone(churner->window);
}

/* A page or more of the slot, as changes of the mapping take it. */
static unsigned long some_pages(struct churner *churner, unsigned long *size)
{
	unsigned long first = rng_below(&churner->rng, SLOT_PAGES);

	*size = (1 + rng_below(&churner->rng, SLOT_PAGES - first)) * SFT_PAGE;
	return churner->slot + first * SFT_PAGE;
}

static bool map_over(unsigned long start, unsigned long size)
{
	return mmap((void *)start, size, SFT_RX,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	       (void *)start;
}

static void lose(struct churner *churner, unsigned long start,
		 unsigned long size)
{
	if (overlaps(churner->window, start, start + size))
		gone(churner->window);
	expect("unregister unmapped", sft_unregister(churner->slot),
	       there(churner->window) ? 0 : -ENOENT);
	gone(churner->window);
}

static void try_map_over(struct churner *churner)
{
	unsigned long size, start = some_pages(churner, &size);

	expect("mmap over", map_over(start, size), true);
	lose(churner, start, size);
}

/* While nothing is there, nothing can be registered. */
static void try_unmap(struct churner *churner)
{
	unsigned long size, start = some_pages(churner, &size);
	struct window window = propose(churner);

	expect("munmap", munmap((void *)start, size), 0);
	lose(churner, start, size);
	window.start = start;
	window.end = start + 1;
	expect("register unmapped", window_register(&window, 0), -EINVAL);
	expect("mmap again", map_over(start, size), true);
}

/* Away with MREMAP_DONTUNMAP, which changes nothing, and back over it. */
static void try_move(struct churner *churner)
{
	unsigned long size, start = some_pages(churner, &size);
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
	void *text = (void *)start;
	void *away = sft_map(size, PROT_NONE);
	struct window window = *churner->window;

	expect("mremap away", mremap(text, size, size,
				     flags | MREMAP_DONTUNMAP, away) == away,
	       true);
	if (there(&window))
		expect("register there", window_register(&window, 0), -EBUSY);
	expect("mremap back", mremap(away, size, size, flags, text) == text,
	       true);
	lose(churner, start, size);
}

/* Text need not be executable yet when its window is registered. */
static void try_protect(struct churner *churner)
{
	mprotect((void *)churner->slot, SLOT_SIZE, PROT_READ);
	try_register(churner);
	mprotect((void *)churner->slot, SLOT_SIZE, SFT_RX);
}

static void churn(struct churner *churner)
{
	static void (* const tries[])(struct churner *) = {
		try_register, try_register, try_register, try_replace,
		try_replace, try_replace, try_overlap, try_unregister,
		try_unregister, try_map_over, try_unmap, try_move, try_protect,
	};
	unsigned int slot = rng_below(&churner->rng, NR_SLOTS);
	unsigned int nr = rng_below(&churner->rng,
				    sizeof(tries) / sizeof(tries[0]));

	churner->slot = slot_start(churner->nr * NR_SLOTS + slot);
	churner->window = &area.churned[churner->nr][slot];
	tries[nr](churner);
}

void *churn_run(void *arg)
{
	struct churner churner = { .nr = (uintptr_t)arg };

	churner.rng = rng_start(100 + churner.nr);
	while (!race_over()) {
		change_begin();
		churn(&churner);
		change_end();
	}
	return NULL;
}

/* ---- many threads, the same windows -------------------------------------- */

static struct window crowded(uint64_t *rng, unsigned long start,
			     unsigned long pages, unsigned long key)
{
	struct window window = {
		.start = start + rng_below(rng, (pages - 1) * SFT_PAGE),
		.key = key,
		.packed = maybe_packed(rng),
	};

	window.end = window.start + 1 + rng_below(rng, SFT_PAGE);
	any_table(&window);
	return window;
}

static bool one_of(int ret, int a, int b)
{
	return !ret || ret == a || ret == b;
}

/* The number of windows of a key is that of successes; it is 0 or 1. */
static void crowd_register(uint64_t *rng, unsigned int nr)
{
	struct window window = crowded(rng, area.crowd, CROWD_PAGES,
				       crowd_key(nr));
	int ret = window_register(&window, 0);

	if (!ret)
		__atomic_fetch_add(&area.crowd_keys[nr], 1, __ATOMIC_RELAXED);
	check_that(&checks[CHECK_CROWD], one_of(ret, -EBUSY, -EEXIST),
		   "register: %d", ret);
}

static void crowd_unregister(unsigned int nr)
{
	int ret = sft_unregister(crowd_key(nr));

	if (!ret)
		__atomic_fetch_sub(&area.crowd_keys[nr], 1, __ATOMIC_RELAXED);
	check_that(&checks[CHECK_CROWD], one_of(ret, -ENOENT, 0),
		   "unregister: %d", ret);
}

static void crowd_replace(uint64_t *rng, unsigned int nr)
{
	struct window window = crowded(rng, area.crowd, CROWD_PAGES,
				       crowd_key(nr));
	int ret;

	window.start &= -SFT_PAGE;
	window.end = area.crowd + CROWD_PAGES * SFT_PAGE;
	ret = window_register(&window, SFRAME_WINDOW_REPLACE);
	check_that(&checks[CHECK_CROWD], one_of(ret, -ENOENT, -EEXIST) ||
		   ret == -EINVAL, "replace: %d", ret);
}

void *crowd_run(void *arg)
{
	uint64_t rng = rng_start(200 + (uintptr_t)arg);
	unsigned int nr, what;

	while (!race_over()) {
		nr = rng_below(&rng, CROWD_KEYS);
		what = rng_below(&rng, 8);
		change_begin();
		if (what < 4)
			crowd_register(&rng, nr);
		else if (what < 7)
			crowd_unregister(nr);
		else
			crowd_replace(&rng, nr);
		change_end();
	}
	return NULL;
}

/* ---- windows whose text another thread takes away ------------------------ */

static void ruin_change(uint64_t *rng)
{
	struct window window = crowded(rng, area.ruin, RUIN_PAGES,
				       ruin_key(rng_below(rng, RUIN_KEYS)));
	unsigned int what = rng_below(rng, 4);
	int ret;

	if (what)
		ret = window_register(&window, 0);
	else
		ret = sft_unregister(window.key);
	/* EINVAL: the text is not mapped. */
	check_that(&checks[CHECK_ORPHAN], one_of(ret, -EBUSY, -EEXIST) ||
		   (what ? ret == -EINVAL : ret == -ENOENT), "ruin: %d", ret);
}

void *ruin_run(void *arg)
{
	uint64_t rng = rng_start(300 + (uintptr_t)arg);

	while (!race_over()) {
		change_begin();
		ruin_change(&rng);
		change_end();
	}
	return NULL;
}

/* Usually something is mapped. */
static void demolish(unsigned int what, unsigned long start,
		     unsigned long size)
{
	if (what == 0)
		munmap((void *)start, size);
	else if (what == 1)
		mprotect((void *)start, size, PROT_READ);
	else
		map_over(start, size);
}

void *demolish_run(void *arg)
{
	uint64_t rng = rng_start(400);
	unsigned long first, nr;

	while (!race_over()) {
		first = rng_below(&rng, RUIN_PAGES);
		nr = 1 + rng_below(&rng, RUIN_PAGES - first);
		change_begin();
		demolish(rng_below(&rng, 4), area.ruin + first * SFT_PAGE,
			 nr * SFT_PAGE);
		change_end();
		usleep(rng_below(&rng, 2000));
	}
	return NULL;
}

void ruin_check(void)
{
	unsigned int i;
	int ret;

	munmap((void *)area.ruin, RUIN_PAGES * SFT_PAGE);
	for (i = 0; i < RUIN_KEYS; i++) {
		ret = sft_unregister(ruin_key(i));
		check_that(&checks[CHECK_ORPHAN], ret == -ENOENT,
			   "key %u of unmapped text: %d", i, ret);
	}
}
