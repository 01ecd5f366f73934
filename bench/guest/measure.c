// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "measure.h"

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static int counts(unsigned long counted, unsigned long instructions)
{
	return counted + NOW_STEP > instructions &&
	       counted < instructions + NOW_STEP;
}

void check_icount(void)
{
	unsigned long counted = bench_thousand();

	/* An interrupt may hit the first try. */
	if (!counts(counted, 1000))
		counted = bench_thousand();
	if (!counts(counted, 1000))
		die("%lu are counted of 1000 instructions: no --icount?",
		    counted);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t median(uint64_t *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare);
	return values[(nr - 1) / 2];
}

double mean(const uint64_t *values, size_t nr)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		sum += values[i];
	return sum / nr;
}

static uint64_t random_state = 1;

void random_restart(void)
{
	random_state = 1;
}

uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 6364136223846793005u +
		       1442695040888963407u;
	return ((random_state >> 32) * limit) >> 32;
}

void *map_memory(size_t size, int prot)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *mem;

	if (prot & PROT_WRITE)
		flags |= MAP_POPULATE;
	mem = mmap(NULL, size, prot, flags, -1, 0);
	if (mem == MAP_FAILED)
		die("no %zu bytes of memory: %m", size);
	return mem;
}
