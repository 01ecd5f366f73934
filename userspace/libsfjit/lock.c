// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The lock, and fork in any state of it.
 *
 * fork() takes the lock, so that a child finds everything whole. A signal
 * handler may fork, too: signals stay blocked while the lock is held, or a
 * handler in the holder's own thread would wait for it forever. That costs two
 * system calls, on paths that a JIT takes once per function.
 */
#include <pthread.h>
#include <signal.h>

#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sigset_t saved_mask;	/* of the holder */

static void lock_without_signals(void)
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

/* Registered at first use: a process that never uses the library pays none. */
static void watch_forks(void)
{
	pthread_atfork(lock_without_signals, sfjit_unlock, sfjit_unlock);
}

void sfjit_lock(void)
{
	pthread_once(&once, watch_forks);
	lock_without_signals();
}
