// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Looks at the stack of a thread that compiles when it wakes others. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "early.h"
#include "import.h"

/*
 * The frames of the function that wakes, of the one that queues, and the part
 * of that of the one that makes the event, where it is. Many more frames are
 * behind them.
 */
#define WORDS	128

static int (*next_broadcast)(pthread_cond_t *condition);
static void (*look_at)(uintptr_t word);

/* "C1 CompilerThread0", of which Linux keeps fifteen bytes. */
static bool compiles(void)
{
	char name[16] = "";

	return !prctl(PR_GET_NAME, name) && strstr(name, "Compiler");
}

/* Words of all frames, also what a sanitizer keeps between variables. */
__attribute__((no_sanitize("address")))
static void look_at_stack(void)
{
	const uintptr_t *word = __builtin_frame_address(0);
	size_t i;

	for (i = 0; i < WORDS; i++)
		look_at(word[i]);
}

/* The event's thread has to wait for a lock until this returns. */
static int broadcast(pthread_cond_t *condition)
{
	int saved = errno;

	if (compiles())
		look_at_stack();
	errno = saved;
	return next_broadcast(condition);
}

/* Another agent may have been there before; calls come at once. */
bool early_start(const void *address, void (*look)(uintptr_t word))
{
	void *next;

	look_at = look;
	if (!next_broadcast)
		next_broadcast = pthread_cond_broadcast;
	next = import_replace(address, "pthread_cond_broadcast", broadcast);
	if (next && next != broadcast)
		__atomic_store_n(&next_broadcast, next, __ATOMIC_RELAXED);
	return next;
}
