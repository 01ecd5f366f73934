/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The step that most frames take: by rules that are at hand. It is inlined into
 * the loop of a walk in the context of a sample.
 */
#ifndef _KERNEL_UNWIND_SFRAME_STEP_H
#define _KERNEL_UNWIND_SFRAME_STEP_H

#include "sframe.h"
#include "sframe_cache.h"
#include "user.h"

int sframe_pause(struct unwind_user_state *state);
int sframe_not_done(struct unwind_user_state *state, int ret);
int sframe_step_known(struct unwind_user_state *state,
		      const struct unwind_user_frame *frame);
int sframe_step_copied(struct unwind_user_state *state,
		       const struct sframe_cache_entry *entry, u32 seq);
int sframe_step_window(struct unwind_user_state *state, unsigned long ip);

/* The row at @off in a table that was copied when it was registered. */
static __always_inline const struct unwind_user_frame *
sframe_small_frame(const struct sframe_window *window, u32 off)
{
	unsigned int i = window->nr_rows - 1;

	if (window->func.rep_size)
		off %= window->func.rep_size;
	/* The first row starts at 0. */
	while (window->rows[i].start > off)
		i--;
	/* A CPU that runs ahead may miss the first row. */
	i = array_index_nospec(i, window->nr_rows);
	return &window->rows[i].frame;
}

static __always_inline int
sframe_step_small(struct unwind_user_state *state, unsigned long ip)
{
	const struct sframe_window *window = state->sframe.window;
	const struct unwind_user_frame *frame;
	int ret;

	if (ip - window->func.start >= window->func.size)
		return sframe_not_done(state, -ENOENT);
	frame = sframe_small_frame(window, ip - window->func.start);
	if (unlikely(frame->kind != UNWIND_USER_FRAME_PLAIN))
		return sframe_step_known(state, frame);
	ret = unwind_user_step_plain(state, frame, sizeof(long));
	return likely(!ret) ? 0 : sframe_not_done(state, ret);
}

/* By rules in the cache; -EAGAIN if they are gone meanwhile. */
static __always_inline int
sframe_step_cached(struct unwind_user_state *state,
		   const struct sframe_cache_entry *entry, u32 seq)
{
	struct unwind_user_caller caller __uninitialized;
	int ret;

	if (entry->frame.kind == UNWIND_USER_FRAME_POINTER)
		return sframe_cache_used(entry, seq) ? -ENOENT : -EAGAIN;
	if (unlikely(entry->frame.kind != UNWIND_USER_FRAME_PLAIN))
		return sframe_step_copied(state, entry, seq);

	if (!unwind_user_access_begin())
		return -EFAULT;
	ret = unwind_user_read_plain(state, &entry->frame, sizeof(long),
				     &caller);
	user_read_access_end();
	if (unlikely(!sframe_cache_used(entry, seq)))
		return -EAGAIN;
	if (!ret)
		ret = unwind_user_enter(state, &caller, false);
	return likely(!ret) ? 0 : sframe_not_done(state, ret);
}

/* See sframe_step(). */
static __always_inline int sframe_step_inline(struct unwind_user_state *state)
{
	struct sframe_walk *walk = &state->sframe;
	unsigned long ip = sframe_lookup_ip(state);
	const struct sframe_cache_entry *entry;
	u32 seq;
	int ret;

	walk->slack -= SFRAME_STACK_READS;
	if (unlikely(walk->slack < 0)) {
		ret = sframe_pause(state);
		if (ret)
			return ret;
	}

	if (sframe_range_holds(walk, ip)) {
		if (!walk->window)
			return -ENOENT;
		if (walk->window->nr_rows)
			return sframe_step_small(state, ip);
	}

	entry = sframe_cache_find(walk, ip, &seq);
	if (entry) {
		ret = sframe_step_cached(state, entry, seq);
		if (ret != -EAGAIN)
			return ret;
	}
	return sframe_step_window(state, ip);
}

#endif /* _KERNEL_UNWIND_SFRAME_STEP_H */
