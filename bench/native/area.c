// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * area MILLISECONDS: nanoseconds to publish and withdraw a function in an area,
 * by 1 to 16 threads at once. Prints lines "WHERE:THREADS VALUE". VALUE is
 * the elapsed time divided by the functions of all threads: with two CPUs, two
 * threads at best need half as long as one. WHERE is
 *
 *   apart	each thread has a part of the area
 *   anywhere	random places, as from a free list
 *   turns	neighbours belong to different threads, which publish them at
 *		the same time
 *
 * Each value is the minimum of interleaved runs: other programs on this machine
 * only add to it.
 */
#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sfjit/area.h>

#include "../live.h"

/* Eight megabytes of addresses; no code is there. */
#define FUNCTIONS	65536
#define TEXT		0x7e0000000000UL
#define POWERS		5	/* 1, 2, 4, 8 and 16 threads */
#define MOST		(1 << (POWERS - 1))

static struct live_function functions[FUNCTIONS];
static struct sfjit_area *area;
static pthread_barrier_t barrier;

enum where { APART, ANYWHERE, TURNS };

struct thread {
	pthread_t	id;
	enum where	where;
	size_t		first, step, nr;
	double		start, end;
};

static size_t shuffled[FUNCTIONS];

/* The same order in each run of the program. */
static void shuffle(void)
{
	uint64_t state = 1;
	size_t i, j, kept;

	for (i = 0; i < FUNCTIONS; i++)
		shuffled[i] = i;
	for (i = FUNCTIONS - 1; i; i--) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		j = (state >> 33) % (i + 1);
		kept = shuffled[i];
		shuffled[i] = shuffled[j];
		shuffled[j] = kept;
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static const struct sfjit_function *nth(const struct thread *thread, size_t i)
{
	size_t at = thread->first + i * thread->step;

	if (thread->where == ANYWHERE)
		at = shuffled[at];
	return &functions[at].function;
}

static void publish_and_withdraw(const struct thread *thread)
{
	const struct sfjit_function *f;
	size_t i;

	for (i = 0; i < thread->nr; i++)
		if (sfjit_area_publish(area, nth(thread, i)))
			errx(1, "function %zu cannot be published", i);
	for (i = 0; i < thread->nr; i++) {
		f = nth(thread, i);
		if (sfjit_area_withdraw(area, (void *)(uintptr_t)f->addr))
			errx(1, "function %zu is not there", i);
	}
}

static void *run_thread(void *argument)
{
	struct thread *thread = argument;

	pthread_barrier_wait(&barrier);
	thread->start = now();
	publish_and_withdraw(thread);
	thread->end = now();
	return NULL;
}

/* Nanoseconds per function. */
static double run(unsigned int nr, enum where where)
{
	struct thread threads[MOST];
	double start = 0, end = 0;
	unsigned int i;

	pthread_barrier_init(&barrier, NULL, nr);
	for (i = 0; i < nr; i++) {
		threads[i].nr = FUNCTIONS / nr;
		threads[i].where = where;
		threads[i].first = where == TURNS ? i : i * threads[i].nr;
		threads[i].step = where == TURNS ? nr : 1;
		if (pthread_create(&threads[i].id, NULL, run_thread,
				   &threads[i]))
			errx(1, "no thread");
	}
	for (i = 0; i < nr; i++) {
		pthread_join(threads[i].id, NULL);
		if (!i || threads[i].start < start)
			start = threads[i].start;
		if (threads[i].end > end)
			end = threads[i].end;
	}
	pthread_barrier_destroy(&barrier);
	/* The table is empty, and what the changes took is free again. */
	sfjit_area_reset(area, NULL, 0);
	return (end - start) / FUNCTIONS;
}

static const char *const names[] = {
	[APART]		= "apart",
	[ANYWHERE]	= "anywhere",
	[TURNS]		= "turns",
};

#define PLACES	(sizeof(names) / sizeof(names[0]))

static void run_each(double least[PLACES][POWERS])
{
	unsigned int i, j;
	double ns;

	for (i = 0; i < PLACES; i++) {
		for (j = 0; j < POWERS; j++) {
			ns = run(1u << j, i);
			if (!least[i][j] || ns < least[i][j])
				least[i][j] = ns;
		}
	}
}

int main(int argc, char **argv)
{
	double budget = argc == 2 ? atof(argv[1]) * 1e6 : 0, end;
	double least[PLACES][POWERS] = { 0 };
	size_t i, j;

	if (budget <= 0)
		errx(2, "usage: area MILLISECONDS");
	for (i = 0; i < FUNCTIONS; i++)
		live_fill(&functions[i], TEXT, i);
	shuffle();
	if (sfjit_area_create((void *)TEXT, FUNCTIONS * LIVE_FUNCTION_SIZE, 0,
			      0, &area))
		errx(1, "no area");
	/* Touch the table and the stacks of threads first. */
	run(MOST, APART);
	end = now() + budget;
	do {
		run_each(least);
	} while (now() < end);
	for (i = 0; i < PLACES; i++)
		for (j = 0; j < POWERS; j++)
			printf("%s:%u %.2f\n", names[i], 1u << j, least[i][j]);
	sfjit_area_retire(area);
	return 0;
}
