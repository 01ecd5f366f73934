// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: live-growth [-q] N...
 *
 * Instructions to make functions walkable one by one, as their number grows
 * from 0 to N, in user space and in the kernel. Prints lines "WHAT:N VALUE",
 * for one function:
 *
 *	publish		into an area
 *	replace		build a section of all functions so far and replace the
 *			previous one
 *	replace-call	the system call of that
 *	register	a section and a window for each function
 *	unregister	its removal
 *
 * and for the window of all functions
 *
 *	window		create and retire an area
 *	step-live	one more frame in a sample, functions in an area
 *	step-fixed	the same, functions in a fixed window
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <sfjit/area.h>

#include "../live.h"
#include "live-walk.h"
#include "measure.h"

#define MAX_ROUNDS	101
/* Bytes of a function's section; sections start on cache lines. */
#define SECTION_SIZE	256
/* Larger N are measured at this many evenly spaced sizes. */
#define MAX_SIZES	100

enum what {
	PUBLISH, REPLACE, REPLACE_CALL, REGISTER, UNREGISTER, WINDOW, NR_WHAT
};

static const char *const names[] = {
	[PUBLISH] = "publish",
	[REPLACE] = "replace",
	[REPLACE_CALL] = "replace-call",
	[REGISTER] = "register",
	[UNREGISTER] = "unregister",
	[WINDOW] = "window",
};

static uint64_t costs[NR_WHAT][MAX_ROUNDS];

/* Code of @nr functions, their descriptions, and space for sections. */
struct work {
	size_t nr;
	unsigned char *text;
	struct live_function *described;
	struct sfjit_function *functions;
	unsigned char *sections[2];
	size_t length;
};

static void must(const char *what, long ret)
{
	if (ret < 0)
		die("%s: %s", what, strerror(-ret));
}

static size_t text_length(const struct work *work)
{
	return work->nr * LIVE_FUNCTION_SIZE;
}

/* Makes all memory present, except the library's. */
static void prepare(struct work *work, size_t nr)
{
	size_t i;

	work->nr = nr;
	work->length = nr * SECTION_SIZE;
	work->text = map_memory(text_length(work), PROT_READ | PROT_EXEC);
	work->described = map_memory(nr * sizeof(*work->described),
				     PROT_READ | PROT_WRITE);
	work->functions = map_memory(nr * sizeof(*work->functions),
				     PROT_READ | PROT_WRITE);
	for (i = 0; i < 2; i++)
		work->sections[i] = map_memory(work->length,
					       PROT_READ | PROT_WRITE);
	for (i = 0; i < nr; i++) {
		live_fill(&work->described[i], (uintptr_t)work->text, i);
		work->functions[i] = work->described[i].function;
	}
}

static void finish(struct work *work)
{
	munmap(work->text, text_length(work));
	munmap(work->described, work->nr * sizeof(*work->described));
	munmap(work->functions, work->nr * sizeof(*work->functions));
	munmap(work->sections[0], work->length);
	munmap(work->sections[1], work->length);
}

/* ---- An area ---------------------------------------------------------- */

static void publish_all(struct sfjit_area *area, const struct work *work)
{
	long ret = 0;
	size_t i;

	for (i = 0; i < work->nr; i++)
		ret |= sfjit_area_publish(area, &work->functions[i]);
	must("sfjit_area_publish", ret);
}

static struct sfjit_area *create(const struct work *work)
{
	struct sfjit_area_info stat;
	struct sfjit_area *area;

	must("sfjit_area_create",
	     sfjit_area_create(work->text, text_length(work), 0, 0, &area));
	must("sfjit_area_stat", sfjit_area_stat(area, &stat));
	must("registration of an area", stat.error);
	return area;
}

static void measure_publish(const struct work *work, size_t round)
{
	uint64_t begin = now(), start, end;
	struct sfjit_area *area = create(work);

	start = now();
	publish_all(area, work);
	end = now();
	must("sfjit_area_retire", sfjit_area_retire(area));
	costs[PUBLISH][round] = (end - start) / work->nr;
	costs[WINDOW][round] = now() - end + start - begin;
}

/* ---- One window that is replaced ------------------------------------- */

static int replace(const struct work *work, size_t nr, uint64_t *call)
{
	unsigned char *section = work->sections[nr % 2];
	long length = sfjit_section_fill(section, work->length,
					 work->functions, nr);
	uint64_t start = now();
	int ret;

	if (length < 0)
		return length;
	ret = sfjit_replace((uintptr_t)work->text, section, length, work->text,
			    text_length(work));
	*call += now() - start;
	return ret;
}

/* Registers the window to replace. */
static void register_first(const struct work *work)
{
	long length = sfjit_section_fill(work->sections[0], work->length,
					 work->functions, 1);

	must("sfjit_section_fill", length);
	must("sfjit_register",
	     sfjit_register((uintptr_t)work->text, work->sections[0], length,
			    work->text, text_length(work)));
}

/* The middle of the i-th of @sizes parts. */
static size_t size_of(const struct work *work, size_t i, size_t sizes)
{
	return ((2 * i + 1) * work->nr + 2 * sizes - 1) / (2 * sizes);
}

static void measure_replace(const struct work *work, size_t round)
{
	size_t i, sizes = work->nr < MAX_SIZES ? work->nr : MAX_SIZES;
	uint64_t start, call = 0;

	register_first(work);
	start = now();
	for (i = 0; i < sizes; i++)
		must("sfjit_replace",
		     replace(work, size_of(work, i, sizes), &call));
	costs[REPLACE][round] = (now() - start) / sizes;
	costs[REPLACE_CALL][round] = call / sizes;
	must("sfjit_unregister", sfjit_unregister((uintptr_t)work->text));
}

/* ---- A window for each function -------------------------------------- */

static int register_one(const struct work *work, size_t i)
{
	const struct sfjit_function *function = &work->functions[i];
	unsigned char *section = work->sections[0] + i * SECTION_SIZE;
	long length = sfjit_section_fill(section, SECTION_SIZE, function, 1);

	if (length < 0)
		return length;
	return sfjit_register(function->addr, section, length,
			      (void *)function->addr, function->size);
}

static void measure_register(const struct work *work, size_t round)
{
	uint64_t start = now();
	size_t i;

	for (i = 0; i < work->nr; i++)
		must("sfjit_register", register_one(work, i));
	costs[REGISTER][round] = (now() - start) / work->nr;
	start = now();
	for (i = 0; i < work->nr; i++)
		must("sfjit_unregister",
		     sfjit_unregister(work->functions[i].addr));
	costs[UNREGISTER][round] = (now() - start) / work->nr;
}

/* ---- A sample -------------------------------------------------------- */

static double step_live(const struct work *work, size_t nr_stacks)
{
	struct sfjit_area *area = create(work);
	double step;

	publish_all(area, work);
	step = live_walk_step(work->described, work->nr, nr_stacks);
	must("sfjit_area_retire", sfjit_area_retire(area));
	return step;
}

static double step_fixed(const struct work *work, size_t nr_stacks)
{
	uint64_t call = 0;
	double step;

	register_first(work);
	must("sfjit_replace", replace(work, work->nr, &call));
	step = live_walk_step(work->described, work->nr, nr_stacks);
	must("sfjit_unregister", sfjit_unregister((uintptr_t)work->text));
	return step;
}

/* ---- All of it ------------------------------------------------------- */

/* A timer interrupt matters for few functions, not for many. */
static size_t rounds_of(size_t nr, int quick)
{
	size_t rounds = 10000 / nr;

	if (quick)
		rounds = 3;
	if (rounds > MAX_ROUNDS)
		rounds = MAX_ROUNDS;
	return rounds > 3 ? rounds : 3;
}

static void measure(size_t nr, int quick)
{
	size_t i, round, rounds = rounds_of(nr, quick);
	struct work work;

	prepare(&work, nr);
	for (round = 0; round < rounds; round++) {
		measure_publish(&work, round);
		measure_replace(&work, round);
		measure_register(&work, round);
	}
	for (i = 0; i < NR_WHAT; i++)
		printf("%s:%zu %lu\n", names[i], nr, median(costs[i], rounds));
	printf("step-live:%zu %.1f\n", nr, step_live(&work, quick ? 2 : 16));
	printf("step-fixed:%zu %.1f\n", nr, step_fixed(&work, quick ? 2 : 16));
	finish(&work);
}

int main(int argc, char **argv)
{
	int i = 1, quick = argc > 1 && !strcmp(argv[1], "-q");

	check_icount();
	if (!sfjit_available(SFJIT_QUERY_KERNEL))
		die("live: this kernel has no windows");
	for (i += quick; i < argc; i++) {
		if (atol(argv[i]) < 1)
			die("usage: live-growth [-q] N...");
		measure(atol(argv[i]), quick);
		fflush(stdout);
	}
	return 0;
}
