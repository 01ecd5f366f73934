// SPDX-License-Identifier: GPL-2.0
/*
 * Steps by rules that need not be looked for, as most are: several at once.
 */
#include <linux/minmax.h>
#include <linux/sframe.h>

#include "sframe_cache.h"
#include "sframe_known.h"
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

/* See unwind_user_step_fallback(). */
static __always_inline bool
sframe_may_fall_back(const struct unwind_user_caller *at)
{
	if (IS_ENABLED(CONFIG_HAVE_UNWIND_USER_FP))
		return at->fp >= at->sp;
	return IS_ENABLED(CONFIG_HAVE_UNWIND_USER_BACKCHAIN);
}

/* False if the rules start from what is not known. */
static __always_inline bool
sframe_known_cfa(struct unwind_user_state *state,
		 const struct unwind_user_frame *frame,
		 const struct unwind_user_caller *at, unsigned long *cfa)
{
	if (frame->cfa.from == UNWIND_USER_FROM_FP) {
		*cfa = at->fp + frame->cfa.off;
		return true;
	}
	*cfa = at->sp + frame->cfa.off;
	if (!IS_ENABLED(CONFIG_HAVE_UNWIND_USER_BACKCHAIN) ||
	    frame->kind == UNWIND_USER_FRAME_PLAIN)
		return unwind_user_sp_known(state);
	if (unwind_user_get_word(state, cfa, *cfa, sizeof(long)))
		return false;
	*cfa += frame->cfa_addend;
	return true;
}

/*
 * The caller of a frame that is not the topmost one, by rules that need two
 * words of the stack: plain ones, the frame pointer, or the back chain. What is
 * not sure is left to sframe_step(), which says why. In an access section.
 */
static __always_inline bool
sframe_known_caller(struct unwind_user_state *state,
		    const struct unwind_user_frame *frame,
		    struct unwind_user_caller *at)
{
	const bool by_rows = frame->kind == UNWIND_USER_FRAME_PLAIN;
	unsigned long cfa, sp, ra, fp = at->fp;

	if (unlikely(!by_rows) && (frame->kind != UNWIND_USER_FRAME_POINTER ||
				   !sframe_may_fall_back(at)))
		return false;

	if (!sframe_known_cfa(state, frame, at, &cfa))
		return false;
	sp = unwind_user_caller_sp(frame, cfa);
	if (sp <= at->sp || sp & (sizeof(long) - 1))
		return false;
	if (frame->fp.from != UNWIND_USER_FROM_NONE &&
	    unwind_user_get_word(state, &fp, cfa + frame->fp.off, sizeof(long)))
		return false;
	if (unwind_user_get_word(state, &ra, cfa + frame->ra.off, sizeof(long)))
		return false;
	at->ra = unwind_user_strip_ra(ra);
	if (!unwind_user_text(at->ra))
		return false;
	if (IS_ENABLED(CONFIG_HAVE_UNWIND_USER_BACKCHAIN) && !by_rows) {
		/* No instruction is at an odd address. */
		if (ra & 1)
			return false;
		fp = UNWIND_USER_NO_FP;
	}
	at->sp = sp;
	at->fp = fp;
	if (!UNWIND_USER_FP_GIVES_SP)
		state->sp_bound = !by_rows;
	return true;
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
	struct unwind_user_caller at = {
		.ra = state->ip, .sp = state->sp, .fp = state->fp,
	};
	const struct unwind_user_frame *frame;
	unsigned long length;
	unsigned int nr = 0;
	u8 kind;

	if (!walk->cache || !sframe_cache_current(walk) || state->exact_ip ||
	    state->ri)
		return 0;
	length = sframe_known_length(walk);
	frame = sframe_known_frame(walk, at.ra, length);
	walk->missed = !frame;
	if (!frame)
		return 0;
	kind = frame->kind;
	max = sframe_known_max(walk, kind, max);
	if (!max)
		return 0;

	unwind_user_access_begin();
	do {
		if (!sframe_known_caller(state, frame, &at))
			break;
		ips[nr++] = at.ra;
		if (nr == max)
			break;
		frame = sframe_known_frame(walk, at.ra, length);
	} while (likely(frame) && frame->kind == kind);
	user_read_access_end();

	walk->missed = !frame;
	if (nr)
		state->ip = ips[nr - 1];
	state->sp = at.sp;
	state->fp = at.fp;
	if (kind == UNWIND_USER_FRAME_PLAIN)
		walk->slack -= nr * SFRAME_STACK_READS;
	return nr;
}
