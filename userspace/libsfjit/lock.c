// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The lock, and fork in any state of it.
 *
 * fork() takes the lock, so that a child finds consistent state. A signal
 * handler may fork, too: signals stay blocked while the lock is held, or a
 * handler in the holder's own thread would deadlock. That costs two
 * system calls, on paths that a JIT takes once per function.
 */
#include <pthread.h>
#include <signal.h>

#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigset_t saved_mask;	/* of the holder */
static int watch_error;		/* -errno: forks do not take the lock */

void (*sfjit_in_child)(void);

void sfjit_lock(void)
{
	sigset_t all, mask;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pthread_mutex_lock(&lock);
	saved_mask = mask;
}

void sfjit_unlock(void)
{
	sigset_t mask = saved_mask;

	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void unlock_in_child(void)
{
	if (sfjit_in_child)
		sfjit_in_child();
	sfjit_unlock();
}

/*
 * Of handlers that run before a fork, the last registered is the first. A
 * caller may hold a lock of its own over calls of this library, and fork has to
 * take the two in the same order: these are to be registered before the
 * caller's. Priorities up to 100 are the compiler's; constructors of objects
 * that are needed run before those of objects that need them.
 */
__attribute__((constructor(101)))
static void watch_forks(void)
{
	watch_error = -pthread_atfork(sfjit_lock, sfjit_unlock,
				      unlock_in_child);
}

int sfjit_lock_for_new(void)
{
	if (watch_error)
		return watch_error;
	sfjit_lock();
	return 0;
}
