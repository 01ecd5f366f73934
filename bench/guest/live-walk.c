// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>

#include "event.h"
#include "live-walk.h"
#include "measure.h"
#include "stack.h"

#define SHORT		8
#define LONG		120
#define SAMPLES		5

static struct stack stack;

/* A return address after the prologue, where the third row applies. */
static void add_frame(const struct live_function *live)
{
	const struct sfjit_row *row = &live->rows[2];

	stack_add_row(&stack, live->function.addr + LIVE_FUNCTION_SIZE / 2,
		      row->cfa.reg == SFJIT_X86_64_FP, row->cfa.offset,
		      row->fp.offset);
}

/* Scattered; the same @stack_nr gives the same functions. */
static void build(const struct live_function *functions, size_t nr,
		  size_t depth, size_t stack_nr)
{
	uint32_t scattered = stack_nr;

	stack_init(&stack);
	while (stack.depth < depth - 1) {
		scattered = scattered * 1664525u + 1013904223u;
		add_frame(&functions[((uint64_t)scattered * nr) >> 32]);
	}
	stack_end(&stack, (uintptr_t)bench_trigger_insn);
	/* Not a user address: the walk ends without a page fault. */
	stack_end_at(&stack, -1);
}

/* The walk must find the whole stack. */
static void check(void)
{
	uint64_t chain[STACK_MAX + 1];
	size_t nr = stack_chain(&stack, EVENT_AT_ONCE, chain,
				ARRAY_SIZE(chain));

	if (nr != stack.depth + 1 ||
	    memcmp(chain + 1, stack.chain, stack.depth * sizeof(*chain)))
		die("live: %zu addresses found, there are %zu", nr,
		    stack.depth + 1);
}

/* The median: a timer interrupt hits fewer than half of the samples. */
static uint64_t sample_cost(void)
{
	uint64_t costs[SAMPLES];
	struct event event;
	size_t i;

	event_open(&event, EVENT_AT_ONCE, 0);
	for (i = 0; i < SAMPLES; i++)
		costs[i] = stack_trigger(&stack);
	event_close(&event);
	return median(costs, SAMPLES);
}

static double mean_cost(const struct live_function *functions, size_t nr,
			size_t depth, size_t nr_stacks)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < nr_stacks; i++) {
		build(functions, nr, depth, i);
		check();
		sum += sample_cost();
	}
	return sum / nr_stacks;
}

double live_walk_step(const struct live_function *functions, size_t nr,
		      size_t nr_stacks)
{
	return (mean_cost(functions, nr, LONG, nr_stacks) -
		mean_cost(functions, nr, SHORT, nr_stacks)) / (LONG - SHORT);
}
