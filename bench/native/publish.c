// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * publish MILLISECONDS: nanoseconds to append a function to an area, and
 * of the cheapest system call for comparison. Prints lines "NAME VALUE".
 *
 * publish strict: publishes in seccomp's strict mode, which kills a process for
 * any system call except read, write and exit. publish strict-grow: also makes
 * another call, and is killed.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/seccomp.h>

#include <sfjit/area.h>

#include "../live.h"

/* Fills more than a megabyte of addresses; no code is there. */
#define FUNCTIONS	10000
#define TEXT		0x7e0000000000UL
#define MAX_RUNS	100000

static struct live_function *functions;
static double times[MAX_RUNS];

static void fill_functions(void)
{
	size_t i;

	functions = calloc(FUNCTIONS, sizeof(*functions));
	if (!functions)
		err(1, "calloc");
	for (i = 0; i < FUNCTIONS; i++)
		live_fill(&functions[i], TEXT, i);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static struct sfjit_area *create(void)
{
	struct sfjit_area *area;

	if (sfjit_area_create((void *)TEXT, FUNCTIONS * LIVE_FUNCTION_SIZE, 0,
			      0, &area))
		errx(1, "no area");
	return area;
}

static void publish(struct sfjit_area *area)
{
	size_t i;

	for (i = 0; i < FUNCTIONS; i++)
		if (sfjit_area_publish(area, &functions[i].function))
			errx(1, "function %zu cannot be published", i);
}

/* Untouched memory, as in a JIT. */
static double time_publish(void)
{
	struct sfjit_area *area = create();
	double start = now(), end;

	publish(area);
	end = now();
	sfjit_area_retire(area);
	return end - start;
}

static double time_system_call(void)
{
	double start = now();
	size_t i;

	for (i = 0; i < FUNCTIONS; i++)
		syscall(SYS_getppid);
	return now() - start;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Of one call; uses at most half of the budget. */
static double median_ns(double (*measure)(void), double budget_ns)
{
	double end = now() + budget_ns;
	size_t nr = 0;

	do {
		times[nr++] = measure() / FUNCTIONS;
	} while (nr < MAX_RUNS && now() < end);
	qsort(times, nr, sizeof(*times), compare);
	return times[(nr - 1) / 2];
}

static int strict(int grow)
{
	struct sfjit_area *area = create();

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 77;
	publish(area);
	if (grow)
		sfjit_area_grow(area, NULL, 0, 0, 0);
	/* exit() would call exit_group, which strict mode forbids. */
	syscall(SYS_exit, 0);
	return 1;
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	fill_functions();
	if (!strcmp(what, "strict") || !strcmp(what, "strict-grow"))
		return strict(what[6] != '\0');
	if (atof(what) <= 0)
		errx(2, "usage: publish MILLISECONDS | strict | strict-grow");
	printf("publish_ns %.2f\n",
	       median_ns(time_publish, atof(what) * 1e6));
	printf("system_call_ns %.2f\n",
	       median_ns(time_system_call, atof(what) * 1e6));
	return 0;
}
