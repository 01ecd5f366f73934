// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: forks of a JIT that has atfork handlers of its own, registered
 * before main(), and calls the library under the lock they take: each fork
 * returns, and the child can compile.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <sfjit/area.h>

#include "test.h"

#define NR_FORKS	300

static pthread_mutex_t jit_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char text[4096];
static struct sfjit_pool *pool;
static struct sfjit_area *area;
static atomic_int stop, errors;

static void lock_jit(void)
{
	pthread_mutex_lock(&jit_lock);
}

static void unlock_jit(void)
{
	pthread_mutex_unlock(&jit_lock);
}

static int compile_one(void)
{
	void *entry = NULL;
	int failed = 0;

	lock_jit();
	failed += !!sfjit_tramp_get(pool, text, NULL, &entry);
	failed += !!sfjit_tramp_put(pool, entry);
	failed += !!sfjit_area_grow(area, NULL, 0, 0, 0);
	unlock_jit();
	return failed;
}

static void *compile(void *argument)
{
	while (!stop) {
		errors += compile_one();
		/* Let the forking thread take the lock, too. */
		usleep(20);
	}
	return NULL;
}

static int fork_often(void)
{
	int i, failed = 0;

	for (i = 0; i < NR_FORKS; i++)
		failed += !!in_child(compile_one);
	return failed;
}

static int fork_while_compiling(void)
{
	pthread_t thread;

	MUST(!sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool));
	MUST(!sfjit_area_create(text, sizeof(text), 0, 0, &area));
	MUST(!pthread_create(&thread, NULL, compile, NULL));
	IS("children that failed", fork_often(), 0);
	stop = 1;
	pthread_join(thread, NULL);
	IS("errors of the compiler", errors, 0);
	return finish();
}

__attribute__((constructor))
static void watch_forks(void)
{
	MUST(!pthread_atfork(lock_jit, unlock_jit, unlock_jit));
}

int main(void)
{
	IS("forks under a lock of the caller",
	   in_guarded_child(fork_while_compiling), 0);
	return finish();
}
