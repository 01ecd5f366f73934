// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Looks at the stack of a thread that compiles. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "early.h"
#include "import.h"

/*
 * The frames of the function that wakes or locks, of the one that queues, and
 * the part of that of the one that makes the event, where it is. Many more
 * frames are behind them.
 */
#define WORDS	128

/* A thread has its name a little later than it takes locks. */
#define MAX_ASKED	100
#define COMPILES	(MAX_ASKED + 1)

static int (*next_broadcast)(pthread_cond_t *condition);
static int (*next_lock)(pthread_mutex_t *mutex);
static early_look look_at;

/* "C1 CompilerThread0", of which Linux keeps fifteen bytes. */
static bool compiles(void)
{
	static __thread int asked;
	char name[16] = "";

	if (asked < MAX_ASKED) {
		asked++;
		if (!prctl(PR_GET_NAME, name) && strstr(name, "Compiler"))
			asked = COMPILES;
	}
	return asked == COMPILES;
}

/* Words of all frames, also what a sanitizer keeps between variables. */
__attribute__((no_sanitize("address"), noinline))
static void look_at_stack(bool installed)
{
	const uintptr_t *word = __builtin_frame_address(0);
	int saved = errno;
	size_t i;

	for (i = 0; i < WORDS; i++)
		look_at(word[i], installed);
	errno = saved;
}

/* The event's thread has to wait for a lock until this returns. */
static int broadcast(pthread_cond_t *condition)
{
	if (compiles())
		look_at_stack(true);
	return next_broadcast(condition);
}

/* The caller may have the address in a register that it wants to be kept. */
static int lock(pthread_mutex_t *mutex)
{
	if (compiles()) {
		__builtin_unwind_init();
		look_at_stack(false);
	}
	return next_lock(mutex);
}

/* Another agent may have been there before; calls come at once. */
static bool lead(const void *address, const char *name, void *to, void **next)
{
	void *was = import_replace(address, name, to);

	if (was && was != to)
		__atomic_store_n(next, was, __ATOMIC_RELAXED);
	return was;
}

bool early_start(const void *address, early_look look)
{
	look_at = look;
	if (!next_broadcast)
		next_broadcast = pthread_cond_broadcast;
	if (!next_lock)
		next_lock = pthread_mutex_lock;
	return lead(address, "pthread_cond_broadcast", broadcast,
		    (void **)&next_broadcast) &&
	       lead(address, "pthread_mutex_lock", lock, (void **)&next_lock);
}
