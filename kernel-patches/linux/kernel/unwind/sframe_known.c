// SPDX-License-Identifier: GPL-2.0
/*
 * Steps by rules that need not be looked for, as most are: several at once.
 */
#include <linux/minmax.h>
#include <linux/sframe.h>

#include "sframe_cache.h"
#include "sframe_known.h"
#include "sframe_packed.h"
#include "user.h"

const struct unwind_user_frame sframe_fp_frame = {
#ifdef CONFIG_HAVE_UNWIND_USER_BACKCHAIN
	ARCH_INIT_USER_BACKCHAIN_FRAME
#else
	ARCH_INIT_USER_FP_FRAME((s32)sizeof(long))
#endif
	.kind = UNWIND_USER_FRAME_POINTER,
};

/*
 * The rules of @walk->length addresses that were looked up last, if they need
 * not be read; 0 if they are not what they were.
 */
static unsigned long sframe_known_length(const struct sframe_walk *walk)
{
	if (walk->seq != walk->cache->changes)
		return 0;
	if (walk->window && !walk->window->nr_rows)
		return 0;
	return walk->length;
}

/* The rules at @ip, in a range without a section. */
static __always_inline const struct unwind_user_frame *
sframe_range_frame(const struct sframe_window *window, unsigned long ip)
{
	if (!window)
		return &sframe_fp_frame;
	if (ip - window->func.start >= window->func.size)
		return NULL;
	return sframe_small_frame(window, ip);
}

/* The rules for the caller of @ra, or NULL; see sframe_lookup_ip(). */
static __always_inline const struct unwind_user_frame *
sframe_known_frame(const struct sframe_walk *walk, unsigned long ra,
		   unsigned long length)
{
	unsigned long ip = ra - 1;

	if (ip - walk->first < length)
		return sframe_range_frame(walk->window, ip);
	return sframe_cache_frame(walk->cache, ip);
}

/*
 * How many steps may be made at once, up to the next look at the clock? Those by
 * frame pointer do not count.
 */
static unsigned int sframe_known_max(struct sframe_walk *walk, u8 kind,
				     unsigned int max)
{
	unsigned int left;

	if (kind == UNWIND_USER_FRAME_POINTER) {
		sframe_clock_stop(walk);
		return min(max, SFRAME_KNOWN_STEPS);
	}
	if (kind != UNWIND_USER_FRAME_PLAIN)
		return 0;
	sframe_clock_go_on(walk);
	if (walk->slack < SFRAME_STACK_READS && sframe_look(walk)) {
		/* The next step looks again, and says why it ends. */
		walk->slack = 0;
		return 0;
	}
	left = walk->slack / SFRAME_STACK_READS;
	return min3(max, left, SFRAME_KNOWN_STEPS);
}

/**
 * sframe_steps_known - make steps by rules that are at hand
 * @state:	position of the walk
 * @ips:	filled with the addresses of callers
 * @max:	how many there may be; SFRAME_KNOWN_STEPS at most are made
 *
 * They are made in one access section, and are all of one kind. Not for tasks
 * with return probes.
 *
 * Context: as sframe_step().
 * Return: how many steps were made, perhaps none.
 */
unsigned int sframe_steps_known(struct unwind_user_state *state,
				unsigned long *ips, unsigned int max)
{
	struct sframe_walk *walk = &state->sframe;
	const struct unwind_user_frame *frame;
	unsigned long length;
	unsigned int nr = 0;
	u8 kind;

	if (sframe_range_holds(walk, state->ip - 1) &&
	    sframe_is_packed(walk->window))
		return sframe_steps_packed(state, ips, max);
	if (!walk->cache || !sframe_cache_current(walk) || state->exact_ip ||
	    state->ri)
		return 0;
	length = sframe_known_length(walk);
	frame = sframe_known_frame(walk, state->ip, length);
	walk->missed = !frame;
	if (!frame)
		return 0;
	kind = frame->kind;
	max = sframe_known_max(walk, kind, max);
	if (!max)
		return 0;

	unwind_user_access_begin();
	do {
		if (!sframe_known_step(state, frame, kind))
			break;
		ips[nr++] = state->ip;
		if (nr == max)
			break;
		frame = sframe_known_frame(walk, state->ip, length);
	} while (likely(frame) && frame->kind == kind);
	user_read_access_end();

	walk->missed = !frame;
	if (kind == UNWIND_USER_FRAME_PLAIN)
		walk->slack -= nr * SFRAME_STACK_READS;
	return nr;
}
