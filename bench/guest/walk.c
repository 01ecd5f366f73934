// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: walk [-q] SHAPE[:ARG]...
 *
 * Instructions that the kernel needs to walk stacks of each SHAPE. Prints lines
 *	SHAPE[:ARG] now|defer step VALUE	for one more frame
 *	SHAPE[:ARG] now|defer walk:DEPTH VALUE	for a whole callchain
 * Samples are not written to a ring buffer, so copying is not counted. One
 * sample is, to check that the walk finds the whole stack. Depths beyond a
 * table's budget are left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "measure.h"
#include "shape.h"

static const struct shape *const shapes[] = {
	&shape_fp, &shape_beside, &shape_first, &shape_arg, &shape_rbp, &shape_table,
	&shape_packed, &shape_file,
};

static const char *const mode_names[] = {
	[EVENT_AT_ONCE] = "now",
	[EVENT_DEFERRED] = "defer",
};

/*
 * Frame pointers, or back chains, that end a walk without a page fault, whose
 * cost depends on the kernel's exception table.
 */
static const uint64_t last_fp[] = {
	[EVENT_NO_CHAIN] = 0,
	[EVENT_AT_ONCE] = LAST_FP,	/* no user address */
	[EVENT_DEFERRED] = 0,		/* below the stack pointer */
};

static const size_t depths[] = { 8, 24, 64, 120 };

#define NR_DEPTHS	ARRAY_SIZE(depths)
#define SAMPLES		5

static unsigned int nr_stacks = 32;
static struct stack stack;

static void build(const struct shape *shape, enum event_mode mode, size_t depth)
{
	stack_init(&stack);
	shape->build(&stack, depth);
	stack_end_at(&stack, last_fp[mode]);
}

/* The kernel records why the last walk ended in a window. */
static void check_why(enum event_mode mode, size_t nr)
{
	FILE *file = fopen("/proc/self/sframe", "re");
	char line[128] = "";

	/* The last line is "last REASON ADDRESS". */
	while (file && fgets(line, sizeof(line), file))
		;
	if (file)
		fclose(file);
	if (strncmp(line, "last budget ", 12))
		die("%s: %zu addresses found of %zu; %s", mode_names[mode], nr,
		    stack.depth + 1, line);
}

/* Returns 0 if the walk exceeds its budget. */
static int check_chain(enum event_mode mode)
{
	uint64_t chain[STACK_MAX + 1];
	size_t nr = stack_chain(&stack, mode, chain, ARRAY_SIZE(chain));

	if (nr != stack.depth + 1) {
		check_why(mode, nr);
		return 0;
	}
	if (chain[0] != (uintptr_t)bench_trigger_insn ||
	    memcmp(chain + 1, stack.chain, stack.depth * sizeof(*chain)))
		die("%s: wrong addresses", mode_names[mode]);
	return 1;
}

/* The median: a timer interrupt hits fewer than half of the samples. */
static uint64_t sample_cost(void)
{
	uint64_t costs[SAMPLES];
	size_t i;

	for (i = 0; i < SAMPLES; i++)
		costs[i] = stack_trigger(&stack);
	return median(costs, SAMPLES);
}

static double mean_cost(const struct shape *shape, enum event_mode mode,
			size_t depth)
{
	struct event event;
	double sum = 0;
	unsigned int i;

	event_open(&event, mode, 0);
	random_restart();
	for (i = 0; i < nr_stacks; i++) {
		build(shape, mode, depth);
		sum += sample_cost();
	}
	event_close(&event);
	return sum / nr_stacks;
}

/* Returns for how many of the depths the budget is enough. */
static size_t check_depths(const struct shape *shape, const char *name,
			   enum event_mode mode)
{
	size_t i;

	for (i = 0; i < NR_DEPTHS; i++) {
		build(shape, mode, depths[i]);
		if (!check_chain(mode))
			break;
	}
	if (i < 2)
		die("%s: no walk is complete", name);
	return i;
}

static void measure_mode(const struct shape *shape, const char *name,
			 enum event_mode mode, double empty)
{
	size_t nr = check_depths(shape, name, mode), i;
	double costs[NR_DEPTHS];

	for (i = 0; i < nr; i++) {
		costs[i] = mean_cost(shape, mode, depths[i]);
		printf("%s %s walk:%zu %.1f\n", name, mode_names[mode],
		       depths[i], costs[i] - empty);
	}
	printf("%s %s step %.2f\n", name, mode_names[mode],
	       (costs[nr - 1] - costs[0]) / (depths[nr - 1] - depths[0]));
}

static void measure(const char *name)
{
	size_t i, len = strcspn(name, ":");
	const struct shape *shape = NULL;
	double empty;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		if (strlen(shapes[i]->name) == len &&
		    !strncmp(shapes[i]->name, name, len))
			shape = shapes[i];
	if (!shape)
		die("walk: no shape '%s'", name);

	shape->enter(name[len] ? name + len + 1 : NULL);
	empty = mean_cost(shape, EVENT_NO_CHAIN, depths[0]);
	measure_mode(shape, name, EVENT_AT_ONCE, empty);
	measure_mode(shape, name, EVENT_DEFERRED, empty);
	shape->leave();
}

int main(int argc, char **argv)
{
	int i = 1;

	check_icount();
	if (i < argc && !strcmp(argv[i], "-q")) {
		nr_stacks = 2;
		i++;
	}
	if (i == argc)
		die("usage: walk [-q] SHAPE[:ARG]...");
	for (; i < argc; i++) {
		measure(argv[i]);
		fflush(stdout);
	}
	return 0;
}
