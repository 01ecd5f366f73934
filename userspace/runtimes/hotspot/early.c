// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Search the stack of a compiling thread. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "early.h"
#include "import.h"

/*
 * Covers the frames of the function that wakes or locks, of the one that queues
 * the event, and the part of its caller's that holds the event. The stack has
 * many more frames.
 */
#define WORDS	128

/* A thread gets its name shortly after its first locks. */
#define MAX_ASKED	100
#define COMPILES	(MAX_ASKED + 1)

static int (*next_broadcast)(pthread_cond_t *condition);
static int (*next_lock)(pthread_mutex_t *mutex);
static early_look look_at;

/* "C1 CompilerThread0"; Linux keeps 15 bytes of it. */
static bool is_compiler(void)
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

/* Reads all words, including the sanitizers' gaps between variables. */
__attribute__((no_sanitize("address"), noinline))
static void scan_stack(bool installed)
{
	const uintptr_t *word = __builtin_frame_address(0);
	int saved = errno;
	size_t i;

	for (i = 0; i < WORDS; i++)
		look_at(word[i], installed);
	errno = saved;
}

/* The event's thread needs a lock that is held until this returns. */
static int broadcast(pthread_cond_t *condition)
{
	if (is_compiler())
		scan_stack(true);
	return next_broadcast(condition);
}

/* Spill registers: the caller may keep the address in one. */
static int lock(pthread_mutex_t *mutex)
{
	if (is_compiler()) {
		__builtin_unwind_init();
		scan_stack(false);
	}
	return next_lock(mutex);
}

/*
 * Another agent may have replaced it. Calls begin at once, so set @next before.
 */
static bool redirect_import(const void *address, const char *name, void *to,
			    void **next)
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
	return redirect_import(address, "pthread_cond_broadcast", broadcast,
			       (void **)&next_broadcast) &&
	       redirect_import(address, "pthread_mutex_lock", lock,
			       (void **)&next_lock);
}
