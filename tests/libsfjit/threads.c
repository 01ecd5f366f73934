// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: pools used by several threads at once, and forks while they
 * do: every child finds its pools whole and the lock free.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "test.h"

#define NR_THREADS	4
#define NR_ROUNDS	300
#define NR_HELD		40
#define NR_FORKS	5	/* at least */

static struct sfjit_pool *pool;
static atomic_int errors, running, forks;
static char numbers[NR_THREADS][NR_HELD];

static void *number(void *which)
{
	return which;
}

static void get_all(int thread, void **entries)
{
	char name[64];
	int i;

	for (i = 0; i < NR_HELD; i++) {
		snprintf(name, sizeof(name), "thread%d::f%d", thread, i);
		errors += !!sfjit_tramp_get(pool, number, name, &entries[i]);
	}
}

static void call_all(int thread, void **entries)
{
	int i;

	for (i = 0; i < NR_HELD; i++)
		errors += ((void *(*)(void *))entries[i])(&numbers[thread][i])
			  != &numbers[thread][i];
}

static void put_all(void **entries)
{
	int i;

	for (i = 0; i < NR_HELD; i++)
		errors += !!sfjit_tramp_put(pool, entries[i]);
}

static void *work(void *argument)
{
	void *entries[NR_HELD];
	int round, thread = (long)argument;

	for (round = 0; round < NR_ROUNDS / NR_THREADS; round++) {
		/* Some threads start only after the first forks. */
		while (forks < NR_FORKS * NR_THREADS * round / NR_ROUNDS)
			sched_yield();
		get_all(thread, entries);
		call_all(thread, entries);
		put_all(entries);
	}
	running--;
	return NULL;
}

static void *make_pools(void *argument)
{
	struct sfjit_pool *own;
	int round;

	for (round = 0; round < NR_ROUNDS / 10; round++) {
		errors += !!sfjit_pool_create(round % 3, &own);
		errors += !!sfjit_pool_retire(own);
	}
	running--;
	return NULL;
}

/* ---- In a child, whatever the parent's threads were doing ------------ */

static int use_in_child(void)
{
	struct sfjit_pool_info stat;
	struct sfjit_pool *own;
	void *entry = NULL;

	alarm(HANGS_SECONDS);
	errors = 0;
	errors += !!sfjit_tramp_get(pool, number, "child::f", &entry);
	errors += ((void *(*)(void *))entry)(&errors) != &errors;
	errors += !map_has(getpid(), entry, 16, "child::f");
	errors += !!sfjit_tramp_put(pool, entry);
	errors += !!sfjit_pool_stat(pool, &stat);
	errors += stat.windows < 1 || stat.used > NR_THREADS * NR_HELD;
	errors += !!sfjit_pool_create(SFJIT_TRAMP_SLOT, &own);
	errors += !!sfjit_pool_retire(own);
	errors += !!sfjit_pool_retire(pool);
	return errors;
}

static int fork_while_running(void)
{
	int failed = 0;

	while (running || forks < NR_FORKS) {
		failed += in_child(use_in_child) != 0;
		forks++;
	}
	TRUE("children were made", forks >= NR_FORKS);
	return failed;
}

int main(void)
{
	pthread_t threads[NR_THREADS + 1];
	struct sfjit_pool_info stat;
	long i;

	MUST(!sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool));
	running = NR_THREADS + 1;
	for (i = 0; i < NR_THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, work, (void *)i));
	MUST(!pthread_create(&threads[i], NULL, make_pools, NULL));
	IS("children that failed", fork_while_running(), 0);
	for (i = 0; i <= NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	IS("errors in threads", errors, 0);
	MUST(!sfjit_pool_stat(pool, &stat));
	IS("all were put", stat.used, 0);
	IS("retire", sfjit_pool_retire(pool), 0);
	unlink(map_path(getpid()));
	return finish();
}
