// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "measure.h"
#include "timed.h"

#define PAGE		4096
#define LINE		64
#define CLOCK_NS	50000000

/* More than the caches hold, with a page table entry for each page. */
#define FLUSH_SIZE	((size_t)192 << 20)

#define MAX_READS	(1 << 16)

static struct user_read reads[MAX_READS];
static double ticks_per_ns;
static unsigned int nr_times;
static uint8_t *flush;

static uint64_t clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

void timed_init(unsigned int times)
{
	uint64_t ns = clock_ns(), ticks = now();

	while (clock_ns() - ns < CLOCK_NS)
		;
	ticks_per_ns = (double)(now() - ticks) / (clock_ns() - ns);
	kernel_set_clock(ticks_per_ns);
	flush = map_memory(FLUSH_SIZE, PROT_READ | PROT_WRITE);
	nr_times = times;
}

static void make_cold(void)
{
	size_t i;

	for (i = 0; i < FLUSH_SIZE; i += LINE)
		flush[i]++;
}

size_t timed_run(const struct timed_walk *walk, uint64_t *chain)
{
	if (walk->by_fp)
		return kernel_walk_fp(walk->ip, walk->fp, chain);
	return kernel_walk(walk->ip, walk->sp, walk->fp, chain);
}

static uint64_t time_walk(const struct timed_walk *walk)
{
	uint64_t chain[KERNEL_MAX_STACK], start = now();

	_mm_lfence();
	timed_run(walk, chain);
	_mm_lfence();
	return (now() - start) / ticks_per_ns;
}

enum state { COLD, WARM };

/* The median: disturbances hit fewer than half of the walks. */
static uint64_t usual_time(const struct timed_walk *walk, enum state state)
{
	uint64_t times[TIMED_MAX];
	unsigned int i;

	time_walk(walk);
	for (i = 0; i < nr_times; i++) {
		if (state == COLD)
			make_cold();
		times[i] = time_walk(walk);
	}
	return median(times, nr_times);
}

uint64_t timed_cold(const struct timed_walk *walk)
{
	return usual_time(walk, COLD);
}

static int compare(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

/* Counts distinct pieces of @size bytes that were read. */
static size_t distinct(size_t nr, size_t size)
{
	static uintptr_t pieces[2 * MAX_READS];
	size_t i, found = 0;

	for (i = 0; i < nr; i++) {
		pieces[2 * i] = reads[i].addr / size;
		pieces[2 * i + 1] = (reads[i].addr + reads[i].size - 1) / size;
	}
	qsort(pieces, 2 * nr, sizeof(*pieces), compare);
	for (i = 0; i < 2 * nr; i++)
		found += !i || pieces[i] != pieces[i - 1];
	return found;
}

void timed_print(const struct timed_walk *walk)
{
	uint64_t chain[KERNEL_MAX_STACK];
	unsigned long sections;
	size_t nr, frames;

	kernel_log(reads, &sections);
	frames = timed_run(walk, chain);
	nr = kernel_log(NULL, &sections);
	printf("%zu %zu %lu %zu %zu ", frames, nr, sections,
	       distinct(nr, LINE), distinct(nr, PAGE));
	printf("%" PRIu64 " %" PRIu64 "\n", usual_time(walk, WARM),
	       usual_time(walk, COLD));
	fflush(stdout);
}
