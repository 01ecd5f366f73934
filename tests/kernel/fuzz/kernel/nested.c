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
static struct sframe_window window;
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

/* The next thing to be looked up is @ip, in the window @id. */
static void be_at(struct unwind_user_state *state, unsigned long ip, u64 id)
{
	window.id = id;
	state->sframe.window = &window;
	state->ip = state->exact_ip ? ip : ip + 1;
}

static void step(struct unwind_user_state *state, unsigned long ip)
{
	/* With each change there is another window. */
	u64 id = state->sframe.seq << 32 | ip;
	const struct unwind_user_frame *frame;
	struct unwind_user_frame copy;

	be_at(state, ip, id);
	frame = sframe_cache_find(state, ip);
	if (frame) {
		shim_point();
		memcpy(&copy, frame, sizeof(copy));
		shim_point();
		check(&state->sframe, ip, &copy);
		return;
	}
	frame = sframe_cache_again(state, ip);
	if (frame) {
		check(&state->sframe, ip, frame);
		return;
	}
	read++;
	copy = truth(&state->sframe, ip);
	sframe_cache_store(state, &copy, ip, 1);
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

/* A walk of its own, with an empty cache. */
static struct unwind_user_state begin(void)
{
	struct unwind_user_state state = { .sframe.reg = &registry };

	prepare(0);
	state.sframe.seq = registry.seq;
	sframe_walk_attach(&state);
	return state;
}

static bool find(struct unwind_user_state *state, unsigned long ip)
{
	be_at(state, ip, 7);
	return sframe_cache_find(state, ip);
}

static const struct unwind_user_frame *
again(struct unwind_user_state *state, unsigned long ip, u64 id)
{
	be_at(state, ip, id);
	return sframe_cache_again(state, ip);
}

/* Keep the rules of @length addresses for @ip, one of them. */
static void keep(struct unwind_user_state *state, unsigned long ip,
		 unsigned long first, unsigned long length)
{
	struct unwind_user_frame frame = truth(&state->sframe, ip);

	be_at(state, ip, 7);
	sframe_cache_store(state, &frame, first, length);
}

/* An address is found until something changes, and then by its window. */
static void try_again(bool exact)
{
	struct unwind_user_state state = begin();
	const struct unwind_user_frame *known;
	unsigned long ip = ips[NR_IPS - 1];

	state.exact_ip = exact;
	keep(&state, ip, ip, 1);
	if (!find(&state, ip))
		finding("rules that were stored are not found");
	registry.seq++;
	if (find(&state, ip))
		finding("rules of before a change are found");
	keep(&state, ip + 1, ip + 1, 1);
	if (find(&state, ip + 1))
		finding("rules of before a change are stored");
	if (again(&state, ip, 8))
		finding("rules of another window are found");
	known = again(&state, ip, 7);
	if (!known)
		finding("rules of a window that stays are not found");
	check(&state.sframe, ip, known);
	if (find(&state, ip))
		finding("rules are kept for a window that was looked up before");
	state.sframe.seq = registry.seq;
	if (!again(&state, ip, 7) || !find(&state, ip))
		finding("rules that were found again are not kept");
	sframe_walk_detach(&state);

	registry.id++;
	sframe_walk_attach(&state);
	sframe_walk_detach(&state);
	registry.seq++;
	sframe_walk_attach(&state);
	if (again(&state, ip, 7))
		finding("rules of another address space are found");
	sframe_walk_detach(&state);
}

/* Addresses of one window that have the same hash. */
static void try_one_window(void)
{
	struct unwind_user_state state = begin();
	const struct unwind_user_frame *known;
	unsigned int i;

	for (i = 0; i < SFRAME_CACHE_WAYS; i++)
		keep(&state, ips[i], ips[i], 1);
	registry.seq++;
	find(&state, ips[0]);
	for (i = 0; i < SFRAME_CACHE_WAYS; i++) {
		known = again(&state, ips[i], 7);
		if (!known)
			finding("rules of a window that stays are not found");
		check(&state.sframe, ips[i], known);
	}
	sframe_walk_detach(&state);
}

/* Interrupted addresses leave those of calls where they are, but one. */
static void try_exact(void)
{
	struct unwind_user_state state = begin();
	unsigned int i, lost = 0;

	for (i = 0; i < SFRAME_CACHE_WAYS - 1; i++)
		keep(&state, ips[i], ips[i], 1);
	state.exact_ip = true;
	for (i = 0; i < 1 << 12; i++)
		keep(&state, i * SFRAME_CACHE_BLOCK, i * SFRAME_CACHE_BLOCK, 1);
	state.exact_ip = false;
	for (i = 0; i < SFRAME_CACHE_WAYS - 1; i++)
		lost += !find(&state, ips[i]);
	if (lost)
		finding("a call has lost its place");
	sframe_walk_detach(&state);
}

/* Exactly [@first, @end) is found. */
static void expect_row(struct unwind_user_state *state, unsigned long first,
		       unsigned long end)
{
	unsigned long ip;

	for (ip = first - 2; ip < end + 2; ip++) {
		state->exact_ip = true;
		if (find(state, ip) != (ip >= first && ip < end))
			finding("other addresses have the rules of a row");
		if (!!again(state, ip, 7) != (ip >= first && ip < end))
			finding("other addresses have the rules of a row");
		state->exact_ip = false;
		if (find(state, ip))
			finding("a call has the rules of a row");
	}
	sframe_walk_detach(state);
}

/* The rules of an interrupted address hold for its row, in a block. */
static void try_rows(void)
{
	const unsigned long block = 16 * SFRAME_CACHE_BLOCK;
	const unsigned long behind = block + SFRAME_CACHE_BLOCK;
	const struct {
		unsigned long ip, first, length, want, want_behind;
	} rows[] = {
		{ block + 20, block + 16, 10, block + 16, block + 26 },
		{ block + 20, block + 20, 1, block + 20, block + 21 },
		{ block + 20, block - 8, 40, block, block + 32 },
		{ behind - 1, block + 20, SFRAME_CACHE_BLOCK, block + 20,
		  behind },
		{ block + 20, 0, -1UL, block, behind },
		{ block + 20, block + 10, -block - 10, block + 10, behind },
	};
	struct unwind_user_state state;
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		state = begin();
		/* Whose table is not new. */
		registry.seq++;
		find(&state, 0);
		state.sframe.seq = registry.seq;
		state.exact_ip = true;
		keep(&state, rows[i].ip, rows[i].first, rows[i].length);
		expect_row(&state, rows[i].want, rows[i].want_behind);
	}
}

/* A call is no row. */
static void try_call(void)
{
	struct unwind_user_state state = begin();
	unsigned long ip;

	for (ip = 0x10000; ip < 0x10000 + 4096; ip++)
		keep(&state, ip, ip, 1);
	state.exact_ip = true;
	for (ip = 0; ip < 0x10000 + 4096; ip++)
		if (find(&state, ip))
			finding("an interrupted address has the rules of a call");
	sframe_walk_detach(&state);
}

/* Look up [@first, @first + @length), where @window is. */
static void look_up(struct unwind_user_state *state,
		    struct sframe_window *found, unsigned long first,
		    unsigned long length)
{
	state->sframe.window = found;
	state->sframe.first = first;
	state->sframe.length = length;
	sframe_cache_keep_range(&state->sframe);
}

static bool is_in_range(struct unwind_user_state *state, unsigned long ip)
{
	state->sframe.window = NULL;
	state->sframe.length = 0;
	return sframe_cache_range(&state->sframe, ip);
}

static void expect_range(struct unwind_user_state *state,
			 const struct sframe_window *found,
			 unsigned long first, unsigned long length)
{
	const struct sframe_walk *walk = &state->sframe;
	unsigned long ip;

	for (ip = first - 2; ip < first + length + 2; ip++) {
		if (is_in_range(state, ip) != (ip - first < length))
			finding("other addresses have a range that was kept");
		if (ip - first < length &&
		    (walk->window != found || walk->first != first ||
		     walk->length != length))
			finding("a range is not what was kept");
	}
}

/* What was looked up last is found until something changes. */
static void try_ranges(void)
{
	struct unwind_user_state state = begin(), nested = state;
	unsigned int i;

	look_up(&state, &window, 0x1000, 16);
	look_up(&state, NULL, 0x1020, 16);
	expect_range(&state, &window, 0x1000, 16);
	expect_range(&state, NULL, 0x1020, 16);

	/* That of an NMI finds none, and leaves those that are there. */
	sframe_walk_attach(&nested);
	look_up(&nested, NULL, 0x2000, 16);
	if (is_in_range(&nested, 0x1000) || is_in_range(&state, 0x2000))
		finding("a walk without a cache has ranges");

	for (i = 2; i <= SFRAME_CACHE_RANGES; i++)
		look_up(&state, &window, 0x1000 * i, 16);
	if (is_in_range(&state, 0x1000) || !is_in_range(&state, 0x1020))
		finding("another range than the oldest one has lost its place");

	registry.seq++;
	/* The walk has not seen the change. */
	look_up(&state, &window, 0x8000, 16);
	if (!is_in_range(&state, 0x2000) || !is_in_range(&state, 0x8000))
		finding("a range is lost without need");
	state.sframe.seq = registry.seq;
	if (is_in_range(&state, 0x8000))
		finding("a range of before a change is found");
	look_up(&state, &window, 0x9000, 16);
	sframe_cache_find(&state, 0);
	if (is_in_range(&state, 0x2000) || is_in_range(&state, 0x8000) ||
	    is_in_range(&state, 0x9000))
		finding("a range of before a change is found");
	look_up(&state, &window, 0x9000, 16);
	expect_range(&state, &window, 0x9000, 16);
	sframe_walk_detach(&state);

	registry.id++;
	sframe_walk_attach(&state);
	if (is_in_range(&state, 0x9000))
		finding("a range of another address space is found");
	sframe_walk_detach(&state);
}

int main(void)
{
	unsigned int before;

	if (sframe_cache_init() || sframe_cache_init())
		finding("no memory for the cache");
	find_ips();
	try_again(false);
	try_again(true);
	try_one_window();
	try_exact();
	try_rows();
	try_call();
	try_ranges();
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
