// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: free-list N...
 *
 * Instructions, in user space and in the kernel, to keep N functions walkable
 * that come and go at any place. Prints lines "WHAT:N VALUE":
 *
 *	area		withdraw one function and publish another
 *	replace		rebuild the section of one window and replace it, for
 *			as many changes as were collected
 *	call		the system call of that
 *
 * There are twice as many places as functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <sfjit/area.h>

#include "../live.h"
#include "measure.h"

#define ROUNDS		5

struct work {
	size_t			nr;
	unsigned char		*text;
	struct live_function	*described;	/* each place */
	struct sfjit_function	*functions;	/* each second place */
	size_t			*order;
	unsigned char		*sections[2];
	size_t			length;
};

static uint64_t area_costs[ROUNDS], replace_costs[ROUNDS], call_costs[ROUNDS];

static void must(const char *what, long ret)
{
	if (ret < 0)
		die("%s: %s", what, strerror(-ret));
}

static size_t text_length(const struct work *work)
{
	return 2 * work->nr * LIVE_FUNCTION_SIZE;
}

static void *memory(size_t size)
{
	return map_memory(size, PROT_READ | PROT_WRITE);
}

/* The same order in each run. */
static void shuffle(size_t *order, size_t nr)
{
	uint64_t state = 1;
	size_t i, j, kept;

	for (i = 0; i < nr; i++)
		order[i] = i;
	for (i = nr - 1; i; i--) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		j = (state >> 33) % (i + 1);
		kept = order[i];
		order[i] = order[j];
		order[j] = kept;
	}
}

static void prepare(struct work *work, size_t nr)
{
	long length;
	size_t i;

	work->nr = nr;
	work->text = map_memory(text_length(work), PROT_READ | PROT_EXEC);
	work->described = memory(2 * nr * sizeof(*work->described));
	work->functions = memory(nr * sizeof(*work->functions));
	work->order = memory(nr * sizeof(*work->order));
	for (i = 0; i < 2 * nr; i++)
		live_fill(&work->described[i], (uintptr_t)work->text, i);
	for (i = 0; i < nr; i++)
		work->functions[i] = work->described[2 * i].function;
	shuffle(work->order, nr);
	length = sfjit_section_size(work->functions, nr);
	must("sfjit_section_size", length);
	work->length = length;
	for (i = 0; i < 2; i++)
		work->sections[i] = memory(work->length);
}

static void finish(struct work *work)
{
	munmap(work->text, text_length(work));
	munmap(work->described, 2 * work->nr * sizeof(*work->described));
	munmap(work->functions, work->nr * sizeof(*work->functions));
	munmap(work->order, work->nr * sizeof(*work->order));
	munmap(work->sections[0], work->length);
	munmap(work->sections[1], work->length);
}

/* ---- An area ---------------------------------------------------------- */

/* At an even or odd place. */
static const struct sfjit_function *place(const struct work *work, size_t i,
					  unsigned int odd)
{
	return &work->described[2 * work->order[i] + odd].function;
}

static struct sfjit_area *create(const struct work *work)
{
	struct sfjit_area_info stat;
	struct sfjit_area *area;
	size_t i;

	must("sfjit_area_create",
	     sfjit_area_create(work->text, text_length(work), 0,
			       4 * text_length(work), &area));
	must("sfjit_area_stat", sfjit_area_stat(area, &stat));
	must("registration of an area", stat.error);
	/* Touch all of the index first. */
	for (i = 0; i < 2 * work->nr; i++)
		must("sfjit_area_publish",
		     sfjit_area_publish(area, &work->described[i].function));
	for (i = 0; i < work->nr; i++)
		must("sfjit_area_withdraw", sfjit_area_withdraw(area,
			(void *)(uintptr_t)place(work, i, 1)->addr));
	return area;
}

static void measure_area(const struct work *work, struct sfjit_area *area,
			 size_t round)
{
	unsigned int odd = round % 2;
	uint64_t start = now();
	long ret = 0;
	size_t i;

	for (i = 0; i < work->nr; i++) {
		ret |= sfjit_area_withdraw(area,
			(void *)(uintptr_t)place(work, i, odd)->addr);
		ret |= sfjit_area_publish(area, place(work, i, !odd));
	}
	area_costs[round] = (now() - start) / work->nr;
	must("a change of the area", ret);
}

/* ---- One window that is replaced -------------------------------------- */

static long fill(const struct work *work, size_t which)
{
	long length = sfjit_section_fill(work->sections[which], work->length,
					 work->functions, work->nr);

	must("sfjit_section_fill", length);
	return length;
}

static void measure_replace(const struct work *work, size_t round)
{
	size_t which = (round + 1) % 2;
	uint64_t start = now(), call;
	long length = fill(work, which);

	call = now();
	must("sfjit_replace",
	     sfjit_replace((uintptr_t)work->text, work->sections[which],
			   length, work->text, text_length(work)));
	call_costs[round] = now() - call;
	replace_costs[round] = now() - start;
}

static void measure(size_t nr)
{
	struct sfjit_area *area;
	struct work work;
	size_t round;
	long length;

	prepare(&work, nr);
	area = create(&work);
	for (round = 0; round < ROUNDS; round++)
		measure_area(&work, area, round);
	must("sfjit_area_retire", sfjit_area_retire(area));
	length = fill(&work, 0);
	must("sfjit_register",
	     sfjit_register((uintptr_t)work.text, work.sections[0], length,
			    work.text, text_length(&work)));
	for (round = 0; round < ROUNDS; round++)
		measure_replace(&work, round);
	must("sfjit_unregister", sfjit_unregister((uintptr_t)work.text));
	printf("area:%zu %lu\n", nr, median(area_costs, ROUNDS));
	printf("replace:%zu %lu\n", nr, median(replace_costs, ROUNDS));
	printf("call:%zu %lu\n", nr, median(call_costs, ROUNDS));
	finish(&work);
}

int main(int argc, char **argv)
{
	int i;

	check_icount();
	if (!sfjit_available(SFJIT_QUERY_KERNEL))
		die("free-list: this kernel has no windows");
	for (i = 1; i < argc; i++) {
		if (atol(argv[i]) < 2)
			die("usage: free-list N...");
		measure(atol(argv[i]));
		fflush(stdout);
	}
	return 0;
}
