// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Runtimes, and the frames that they insert.
 *
 * A handler may run while a runtime is registered or unregistered. It
 * increments @users before it checks @in_use; unregistering clears @in_use
 * before it waits for @users. So at least one of the two notices the other.
 */
#include <errno.h>
#include <time.h>

#include "assist.h"

#define WAIT_NS		50000L

/* The members after @users are written only while the place is unused. */
struct runtime {
	bool			in_use;
	unsigned int		users;
	uintptr_t		text;
	size_t			length;
	sfjit_assist_callback	callback;
	void			*data;
};

static struct runtime runtimes[SFJIT_ASSIST_RUNTIMES];

/*
 * @stack: passed to the callbacks
 * The frames of each callback are a sorted run. Runs begin at @runs and end
 * where the next begins.
 */
struct question {
	struct sfjit_assist_stack	stack;
	unsigned int			nr, nr_runs;
	uint16_t			runs[SFJIT_ASSIST_RUNTIMES + 1];
	uint16_t			callee[SFJIT_ASSIST_FRAMES];
	uint64_t			address[SFJIT_ASSIST_FRAMES];
};

/* ---- In the handler ------------------------------------------------------ */

static bool is_reached(const struct runtime *runtime,
		       const struct sfjit_assist_stack *stack)
{
	uint32_t i;

	for (i = 0; i < stack->nr; i++)
		/* The byte after a call may belong to another function. */
		if (stack->frames[i] - (i > 0) - runtime->text <
		    runtime->length)
			return true;
	return false;
}

static int call_runtime(const struct runtime *runtime,
			struct question *question)
{
	int ret;

	if (!is_reached(runtime, &question->stack))
		return 0;
	question->runs[question->nr_runs++] = question->nr;
	ret = runtime->callback(&question->stack, runtime->data);
	question->runs[question->nr_runs] = question->nr;
	return ret;
}

static int call_if_there(struct runtime *runtime, struct question *question)
{
	int ret = 0;

	if (!__atomic_load_n(&runtime->in_use, __ATOMIC_RELAXED))
		return 0;
	__atomic_fetch_add(&runtime->users, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&runtime->in_use, __ATOMIC_SEQ_CST))
		ret = call_runtime(runtime, question);
	__atomic_fetch_sub(&runtime->users, 1, __ATOMIC_RELEASE);
	return ret;
}

static bool has_more(const struct question *question, const uint16_t *ends,
		     unsigned int run)
{
	return ends[run] > question->runs[run];
}

/* The outermost frame after which frames are inserted, or -1. */
static int last_callee(const struct question *question, const uint16_t *ends)
{
	unsigned int run;
	int last = -1;

	for (run = 0; run < question->nr_runs; run++)
		if (has_more(question, ends, run) &&
		    question->callee[ends[run] - 1] > last)
			last = question->callee[ends[run] - 1];
	return last;
}

/*
 * Merge from the outermost frame, so that each is read before it is
 * overwritten.
 */
static unsigned int merge(const struct question *question, uint64_t *frames)
{
	int to = question->stack.nr + question->nr, frame = question->stack.nr;
	uint16_t ends[SFJIT_ASSIST_RUNTIMES];
	int callee, run;

	for (run = 0; run < (int)question->nr_runs; run++)
		ends[run] = question->runs[run + 1];
	/* The frames further in are already in place. */
	while ((callee = last_callee(question, ends)) >= 0) {
		while (frame > callee + 1)
			frames[--to] = frames[--frame];
		for (run = question->nr_runs - 1; run >= 0; run--)
			while (has_more(question, ends, run) &&
			       question->callee[ends[run] - 1] == callee)
				frames[--to] = question->address[--ends[run]];
	}
	return question->stack.nr + question->nr;
}

int sfjit_assist_complete(uint64_t *frames, unsigned int nr,
			  const void *context)
{
	struct question question;
	unsigned int i;

	question.stack = (struct sfjit_assist_stack){
		sizeof(question.stack), nr, frames, context,
	};
	question.nr = 0;
	question.nr_runs = 0;
	for (i = 0; i < SFJIT_ASSIST_RUNTIMES; i++)
		if (call_if_there(&runtimes[i], &question) < 0)
			return -1;
	return merge(&question, frames);
}

int sfjit_assist_insert(const struct sfjit_assist_stack *stack,
			uint32_t callee, uint64_t address)
{
	/* @stack is the first member. */
	struct question *question = (struct question *)stack;
	unsigned int nr = question->nr;

	if (!address)
		return -EINVAL;
	if (callee >= stack->nr)
		return -ERANGE;
	if (nr > question->runs[question->nr_runs - 1] &&
	    callee < question->callee[nr - 1])
		return -ERANGE;
	if (stack->nr + nr >= SFJIT_ASSIST_FRAMES)
		return -ENOSPC;
	question->callee[nr] = callee;
	question->address[nr] = address;
	question->nr++;
	return 0;
}

/* ---- Elsewhere ----------------------------------------------------------- */

/* The threads that used them exist only in the parent. */
static void begin_in_child(void)
{
	unsigned int i;

	for (i = 0; i < SFJIT_ASSIST_RUNTIMES; i++)
		runtimes[i].users = 0;
}

static bool overlaps(const struct runtime *runtime, uintptr_t text,
		     size_t length)
{
	return text - runtime->text < runtime->length ||
	       runtime->text - text < length;
}

/* Finds a place for the range. Returns 0, -EEXIST or -ENOSPC. */
static int find_place(uintptr_t text, size_t length, struct runtime **place)
{
	struct runtime *runtime = runtimes + SFJIT_ASSIST_RUNTIMES;

	*place = NULL;
	while (runtime-- > runtimes) {
		if (!runtime->in_use)
			*place = runtime;
		else if (overlaps(runtime, text, length))
			return -EEXIST;
	}
	return *place ? 0 : -ENOSPC;
}

static int add_runtime(uintptr_t text, size_t length,
		       sfjit_assist_callback callback, void *data)
{
	struct runtime *place;
	int ret = find_place(text, length, &place);

	if (ret)
		return ret;
	sfjit_in_child[SFJIT_CHILD_ASSIST] = begin_in_child;
	place->text = text;
	place->length = length;
	place->callback = callback;
	place->data = data;
	__atomic_store_n(&place->in_use, true, __ATOMIC_SEQ_CST);
	return 0;
}

int sfjit_assist_register(const void *text, size_t length,
			  sfjit_assist_callback callback, void *data)
{
	int ret;

	if (!text || !length || !callback || sfjit_wraps(text, length))
		return -EINVAL;
	ret = sfjit_lock_for_new();
	if (ret)
		return ret;
	ret = add_runtime((uintptr_t)text, length, callback, data);
	sfjit_unlock();
	return ret;
}

/* The lock is held; callbacks do not take it. */
static void wait_for_users(const struct runtime *runtime)
{
	const struct timespec time = { 0, WAIT_NS };

	while (__atomic_load_n(&runtime->users, __ATOMIC_SEQ_CST))
		nanosleep(&time, NULL);
}

static int remove_at(uintptr_t text)
{
	struct runtime *runtime = runtimes;

	while (!runtime->in_use || runtime->text != text)
		if (++runtime == runtimes + SFJIT_ASSIST_RUNTIMES)
			return -ENOENT;
	__atomic_store_n(&runtime->in_use, false, __ATOMIC_SEQ_CST);
	wait_for_users(runtime);
	return 0;
}

int sfjit_assist_unregister(const void *text)
{
	int ret;

	sfjit_lock();
	ret = remove_at((uintptr_t)text);
	sfjit_unlock();
	return ret;
}
