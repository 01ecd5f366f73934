// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Find luaV_execute and the functions around it in Lua's machine code.
 */
#include "layout.h"

#define FRAMES	64

/* In 5.4.6 and later. */
int lua_closethread(lua_State *L, lua_State *from) __attribute__((weak));

struct frame {
	uintptr_t	pc;
	struct lua_text	text;
};

static void add_loop_text(struct lua_loop *loop, struct lua_texts *texts,
			  const struct lua_text *text)
{
	unsigned int i;

	for (i = 0; i < texts->nr; i++)
		if (texts->text[i].start == text->start)
			return;
	if (texts->nr == LUA_TEXTS)
		loop->why = "too many functions make calls";
	else
		texts->text[texts->nr++] = *text;
}

static bool is_same_text(const struct lua_text *one, const struct lua_text *two)
{
	return one->start == two->start;
}

/* Gets the frames from the caller of the C function to lua_resume. */
static int get_frames(struct lua_loop *loop, struct frame *frames)
{
	uintptr_t pcs[FRAMES];
	/* Includes this function, its caller, and the C function. */
	int nr = lua_walk(pcs, FRAMES), i;

	for (i = 0; i < nr; i++) {
		frames[i].pc = pcs[i];
		if (lua_find_text(pcs[i] - 1, &frames[i].text))
			frames[i].text = (struct lua_text){ 0 };
		if (is_same_text(&frames[i].text, &loop->resume))
			return i + 1;
	}
	loop->why = "lua_resume is not found on the stack";
	return 0;
}

static unsigned int count_in_text(const struct lua_text *text,
				  const struct frame *frames, int nr)
{
	unsigned int times = 0;

	while (nr--)
		times += is_same_text(text, &frames[nr].text);
	return times;
}

static void begin_loop(struct lua_loop *loop, const struct frame *frames,
		       int nr)
{
	int i;

	loop->has_begun = true;
	for (i = 0; i < nr && loop->nr < LUA_LOOPS; i++)
		if (frames[i].text.length &&
		    !count_in_text(&frames[i].text, frames, i))
			loop->maybe[loop->nr++] = frames[i].text;
}

/*
 * luaV_execute has one frame per run, in every sample; no other function has.
 */
static void learn_loop(struct lua_loop *loop, const struct frame *frames,
		       int nr, unsigned int runs)
{
	unsigned int i, left = 0;

	if (!loop->has_begun)
		begin_loop(loop, frames, nr);
	for (i = 0; i < loop->nr; i++)
		if (count_in_text(&loop->maybe[i], frames, nr) == runs)
			loop->maybe[left++] = loop->maybe[i];
	loop->nr = left;
}

static bool is_own(const struct frame *frame)
{
	struct lua_text text;

	return frame->text.length &&
	       !lua_find_text((uintptr_t)lua_learn_loop, &text) &&
	       is_same_text(&frame->text, &text);
}

/* Skips the frames of our C functions. */
static int skip_own(const struct frame *frames, int nr)
{
	int i = 0;

	while (i < nr && !is_own(&frames[i]))
		i++;
	return i + 2;
}

static void learn_started(struct lua_loop *loop, const struct frame *after,
			  bool has_yielded)
{
	uintptr_t *started = &loop->native->started;

	if (!has_yielded && !*started)
		*started = after->pc;
	if ((after->pc == *started) == has_yielded)
		loop->why = "coroutines go on where they have begun";
}

/* @nr counts the frames up to lua_resume. */
static void learn_around(struct lua_loop *loop, const struct frame *frames,
			 int nr, bool has_yielded)
{
	struct lua_native *native = loop->native;
	int i, last = -1;

	native->protect = frames[nr - 2].text;
	i = skip_own(frames, nr);
	add_loop_text(loop, &native->call_c, &frames[i].text);
	for (; i < nr - 1; i++) {
		if (is_same_text(&frames[i].text, &native->loop))
			last = i;
		else if (last < 0 || last == i - 1)
			add_loop_text(loop, &native->enter, &frames[i].text);
		else if (is_same_text(&frames[i - 1].text, &native->protect))
			add_loop_text(loop, &native->catch, &frames[i].text);
	}
	learn_started(loop, &frames[last + 1], has_yielded);
}

__attribute__((noinline))
void lua_learn_loop(struct lua_loop *loop, unsigned int runs, bool has_yielded,
		    bool is_known)
{
	struct frame frames[FRAMES];
	int nr = get_frames(loop, frames);

	if (loop->why)
		return;
	if (!is_known)
		learn_loop(loop, frames, nr, runs);
	else
		learn_around(loop, frames, nr, has_yielded);
}

__attribute__((noinline))
void lua_learn_leave(struct lua_loop *loop)
{
	struct lua_native *native = loop->native;
	struct frame frames[FRAMES];
	int nr = get_frames(loop, frames), i = 0;

	/* This function and the hook are not part of Lua. */
	while (i < nr && !is_same_text(&frames[i].text, &native->loop))
		i++;
	if (i == nr)
		return;
	while (i-- && frames[i].text.length)
		add_loop_text(loop, &native->leave, &frames[i].text);
}

const char *lua_begin_loop(struct lua_loop *loop, struct lua_native *native)
{
	struct lua_text close;

	loop->native = native;
	if (lua_find_text((uintptr_t)lua_resume, &loop->resume))
		return "lua_resume has no call frame information";
	add_loop_text(loop, &native->switches, &loop->resume);
	if (!lua_find_text((uintptr_t)lua_resetthread, &close))
		add_loop_text(loop, &native->switches, &close);
	if (lua_closethread && !lua_find_text((uintptr_t)lua_closethread,
					      &close))
		add_loop_text(loop, &native->switches, &close);
	return loop->why;
}

const char *lua_take_loop(struct lua_loop *loop)
{
	if (!loop->why && loop->nr != 1)
		loop->why = "luaV_execute is not found on the stack";
	if (!loop->why)
		loop->native->loop = loop->maybe[0];
	return loop->why;
}

const char *lua_take_native(struct lua_loop *loop)
{
	struct lua_native *native = loop->native;

	if (!loop->why && (!native->enter.nr || !native->leave.nr ||
			   !native->started))
		loop->why = "the functions that make calls are not found";
	return loop->why;
}
