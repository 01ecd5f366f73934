// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The lock, and fork() in any state of it.
 *
 * fork() takes the lock, so that a child finds consistent state. A signal
 * handler may fork too. So signals stay blocked while the lock is held, or a
 * handler in the holder's thread would deadlock. That costs two system calls,
 * on paths that a JIT takes once per function. Writing files under the lock is
 * a cancellation point: a thread that ended there would leave it locked.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"
#include "node.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sfjit_quiet saved;	/* of the holder */
static int watch_error;		/* -errno: fork() does not take the lock */

static struct {
	void (*take)(void);
	void (*release)(void);
} inner;

static bool forks_first;	/* while the lock is held for a fork */

void (*sfjit_in_child[SFJIT_CHILD_NR])(void);
bool sfjit_first_is_forked;

void sfjit_be_quiet(struct sfjit_quiet *quiet)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &quiet->mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &quiet->cancel);
}

void sfjit_end_quiet(const struct sfjit_quiet *quiet)
{
	pthread_setcancelstate(quiet->cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &quiet->mask, NULL);
}

void sfjit_lock(void)
{
	struct sfjit_quiet quiet;

	sfjit_be_quiet(&quiet);
	pthread_mutex_lock(&lock);
	saved = quiet;
}

void sfjit_unlock(void)
{
	struct sfjit_quiet quiet = saved;

	pthread_mutex_unlock(&lock);
	sfjit_end_quiet(&quiet);
}

void sfjit_set_inner_lock(void (*take)(void), void (*release)(void))
{
	inner.take = take;
	inner.release = release;
}

static void before_fork(void)
{
	sfjit_lock();
	if (inner.take)
		inner.take();
	forks_first = syscall(SYS_gettid) == getpid() && !sfjit_first_is_forked;
}

static void after_fork(void)
{
	if (inner.release)
		inner.release();
	sfjit_unlock();
}

static void in_child(void)
{
	unsigned int i;

	sfjit_first_is_forked = !forks_first;
	for (i = 0; i < SFJIT_CHILD_NR; i++)
		if (sfjit_in_child[i])
			sfjit_in_child[i]();
	after_fork();
}

/*
 * Before a fork, handlers run in reverse order of registration. A caller may
 * hold its own lock around calls of this library, and fork() must take both in
 * the same order, so this handler must be registered before the caller's.
 * Priorities up to 100 are reserved; constructors of libraries run before those
 * of their users.
 */
__attribute__((constructor(101)))
static void watch_forks(void)
{
	watch_error = -pthread_atfork(before_fork, after_fork, in_child);
	/* Later a filter may kill the program for opening files. */
	sfjit_node_find();
}

int sfjit_lock_for_new(void)
{
	if (watch_error)
		return watch_error;
	sfjit_lock();
	return 0;
}
