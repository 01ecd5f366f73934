// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: kernel-nested
 *
 * A walk in an NMI, at each point of a walk where it makes a difference: what
 * either finds in the cache has to be true.
 */
#include <linux/sframe.h>

#include "sframe_cache.h"

int printf(const char *format, ...);

/*
 * More addresses with the same hash than have a place, among them that of a
 * call to nowhere; and another one.
 */
#define NR_IPS		(SFRAME_CACHE_WAYS + 2)

void (*shim_at_point)(void);

static struct sframe_registry registry;
static unsigned long ips[NR_IPS];
static unsigned int points, interrupted, nested_first, nested_nr;
static unsigned long found, read, without;

void shim_own_cpu(void)
{
}

/* Rules that are of this address space, change and address only. */
static struct unwind_user_frame truth(const struct sframe_walk *walk,
				      unsigned long ip)
{
	return (struct unwind_user_frame) {
		.cfa.off = walk->reg->id,
		.ra.off = walk->seq,
		.fp.off = ip,
		.cfa_addend = ~ip,
		.sp_off = ~walk->reg->id,
	};
}

static void check(const struct sframe_walk *walk, unsigned long ip,
		  const struct unwind_user_frame *frame)
{
	struct unwind_user_frame want = truth(walk, ip);

	found++;
	if (frame->cfa.off != want.cfa.off || frame->ra.off != want.ra.off ||
	    frame->fp.off != want.fp.off ||
	    frame->cfa_addend != want.cfa_addend ||
	    frame->sp_off != want.sp_off)
		finding("rules of something else are in the cache");
}

static void step(const struct unwind_user_state *state, unsigned long ip)
{
	/* With each change there is another window. */
	u64 id = state->sframe.seq << 32 | ip;
	const struct unwind_user_frame *frame;
	struct unwind_user_frame copy;

	frame = sframe_cache_find(&state->sframe, ip);
	if (frame) {
		shim_point();
		memcpy(&copy, frame, sizeof(copy));
		shim_point();
		check(&state->sframe, ip, &copy);
		return;
	}
	frame = sframe_cache_again(&state->sframe, ip, id);
	if (frame) {
		check(&state->sframe, ip, frame);
		return;
	}
	read++;
	copy = truth(&state->sframe, ip);
	sframe_cache_store(state, ip, id, &copy);
}

static void walk(unsigned int first, unsigned int nr)
{
	struct unwind_user_state state = {
		.sframe = { .reg = &registry, .seq = registry.seq },
	};

	sframe_walk_attach(&state);
	without += !state.sframe.cache;
	while (nr--)
		step(&state, ips[first++ % NR_IPS]);
	sframe_walk_detach(&state);
}

static void interrupt(void)
{
	if (points++ != interrupted)
		return;
	shim_at_point = NULL;
	walk(nested_first, nested_nr);
	shim_at_point = interrupt;
}

/* How many points there were. */
static unsigned int walk_interrupted(unsigned int point)
{
	points = 0;
	interrupted = point;
	shim_at_point = interrupt;
	walk(0, NR_IPS);
	shim_at_point = NULL;
	return points;
}

/* What was there before: nothing, others' rules, old ones, or the same ones. */
static void prepare(unsigned int before)
{
	registry.id++;
	registry.seq++;
	if (!before)
		return;
	walk(0, NR_IPS);
	if (before == 1)
		registry.id++;
	if (before == 2)
		registry.seq++;
}

static void try_points(unsigned int before)
{
	unsigned int point, nr;

	for (point = 0; ; point++) {
		prepare(before);
		nr = walk_interrupted(point);
		/* Whatever that has left. */
		walk(0, NR_IPS);
		walk(1, NR_IPS);
		if (point >= nr)
			return;
	}
}

static void find_ips(void)
{
	unsigned int nr = 0;
	unsigned long ip;

	for (ip = 0; nr < NR_IPS - 1; ip++)
		if (!hash_64(ip, SFRAME_CACHE_BITS))
			ips[nr++] = ip;
	ips[nr] = 1;
}

/* An address is found until something changes, and then by its window. */
static void try_again(void)
{
	struct unwind_user_state state = { .sframe.reg = &registry };
	struct sframe_walk *walk = &state.sframe;
	const struct unwind_user_frame *known;
	unsigned long ip = ips[NR_IPS - 1];
	struct unwind_user_frame frame;

	prepare(0);
	walk->seq = registry.seq;
	sframe_walk_attach(&state);
	frame = truth(walk, ip);
	sframe_cache_store(&state, ip, 7, &frame);
	if (!sframe_cache_find(walk, ip))
		finding("rules that were stored are not found");
	registry.seq++;
	if (sframe_cache_find(walk, ip))
		finding("rules of before a change are found");
	sframe_cache_store(&state, ip + 1, 7, &frame);
	if (sframe_cache_find(walk, ip + 1))
		finding("rules of before a change are stored");
	if (sframe_cache_again(walk, ip, 8))
		finding("rules of another window are found");
	known = sframe_cache_again(walk, ip, 7);
	if (!known)
		finding("rules of a window that stays are not found");
	check(walk, ip, known);
	if (sframe_cache_find(walk, ip))
		finding("rules are kept for a window that was looked up before");
	walk->seq = registry.seq;
	if (!sframe_cache_again(walk, ip, 7) || !sframe_cache_find(walk, ip))
		finding("rules that were found again are not kept");
	sframe_walk_detach(&state);

	registry.id++;
	sframe_walk_attach(&state);
	sframe_walk_detach(&state);
	registry.seq++;
	sframe_walk_attach(&state);
	if (sframe_cache_again(walk, ip, 7))
		finding("rules of another address space are found");
	sframe_walk_detach(&state);
}

/* Addresses of one window that have the same hash. */
static void try_one_window(void)
{
	struct unwind_user_state state = { .sframe.reg = &registry };
	const struct unwind_user_frame *known;
	struct unwind_user_frame frame;
	unsigned int i;

	prepare(0);
	state.sframe.seq = registry.seq;
	sframe_walk_attach(&state);
	for (i = 0; i < SFRAME_CACHE_WAYS; i++) {
		frame = truth(&state.sframe, ips[i]);
		sframe_cache_store(&state, ips[i], 7, &frame);
	}
	registry.seq++;
	sframe_cache_find(&state.sframe, ips[0]);
	for (i = 0; i < SFRAME_CACHE_WAYS; i++) {
		known = sframe_cache_again(&state.sframe, ips[i], 7);
		if (!known)
			finding("rules of a window that stays are not found");
		check(&state.sframe, ips[i], known);
	}
	sframe_walk_detach(&state);
}

/* Interrupted addresses leave those of calls where they are. */
static void try_exact(void)
{
	struct unwind_user_state state = {
		.sframe = { .reg = &registry, .seq = registry.seq },
	};
	struct unwind_user_frame frame = { 0 };
	unsigned int i;

	prepare(0);
	state.sframe.seq = registry.seq;
	sframe_walk_attach(&state);
	for (i = 0; i < NR_IPS - 1; i++) {
		state.exact_ip = i >= SFRAME_CACHE_WAYS - 1;
		sframe_cache_store(&state, ips[i], 1, &frame);
	}
	for (i = 0; i < NR_IPS - 1; i++)
		if (!sframe_cache_find(&state.sframe, ips[i]) !=
		    (i >= SFRAME_CACHE_WAYS - 1 && i < NR_IPS - 2))
			finding("another address has lost its place");
	sframe_walk_detach(&state);
}

int main(void)
{
	unsigned int before;

	if (sframe_cache_init() || sframe_cache_init())
		finding("no memory for the cache");
	find_ips();
	try_again();
	try_one_window();
	try_exact();
	for (before = 0; before < 4; before++)
		for (nested_first = 0; nested_first < NR_IPS; nested_first++)
			for (nested_nr = 1; nested_nr <= NR_IPS; nested_nr++)
				try_points(before);
	if (!found || !read || !without)
		finding("nothing was tried");
	printf("%lu rules found, %lu read, %lu walks without a cache: no finding\n",
	       found, read, without);
	return 0;
}
