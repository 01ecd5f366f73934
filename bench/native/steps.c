// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: steps section|packed|pool|beside SECTION STACKS WALKS
 *
 * Walks so many stacks of the code of SECTION, or of a pool of slots, or of frame
 * pointers beside a window, so many times, with the kernel's
 * code, and checks each. SECTION.packed is the packed table. Run it under
 * callgrind with --toggle-collect=kernel_walk to count instructions. Prints frames
 * and nanoseconds for each of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/walk.h"
#include "measure.h"
#include "shape.h"
#include "trigger.h"

#define MAX_STACKS	64

static struct stack stacks[MAX_STACKS];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static size_t walk(const struct stack *stack, uint64_t *chain)
{
	return kernel_walk((uintptr_t)bench_trigger_insn, stack->words,
			   stack->words + 2, chain);
}

static void check(const struct stack *stack)
{
	uint64_t chain[KERNEL_MAX_STACK];
	size_t nr = walk(stack, chain);

	if (nr != stack->depth + 1 ||
	    memcmp(chain + 1, stack->chain, stack->depth * sizeof(*chain)))
		die("%zu addresses found of %zu", nr, stack->depth + 1);
}

static const struct shape *shape_of(const char *kind)
{
	if (!strcmp(kind, "packed"))
		return &shape_packed;
	if (!strcmp(kind, "pool"))
		return &shape_arg;
	return strcmp(kind, "beside") ? &shape_table : &shape_beside;
}

int main(int argc, char **argv)
{
	size_t nr_stacks, walks, i, w, frames = 0;
	uint64_t chain[KERNEL_MAX_STACK];
	const struct shape *shape;
	int checked;
	double begin;

	if (argc != 5)
		die("usage: steps section|packed|pool|beside SECTION STACKS WALKS");
	shape = shape_of(argv[1]);
	nr_stacks = strtoul(argv[3], NULL, 0);
	walks = strtoul(argv[4], NULL, 0);
	checked = walks > 0;
	if (!nr_stacks || nr_stacks > MAX_STACKS)
		die("1 to %d stacks", MAX_STACKS);

	kernel_set_clock(1);
	kernel_set_limit(1000000000000);
	shape->enter(shape == &shape_table || shape == &shape_packed ? argv[2] :
		     NULL);
	for (i = 0; i < nr_stacks; i++) {
		stack_init(&stacks[i]);
		shape->build(&stacks[i], STACK_PERF);
		if (checked)
			check(&stacks[i]);
	}
	begin = now_ns();
	for (w = 0; w < walks; w++)
		for (i = 0; i < nr_stacks; i++)
			frames += walk(&stacks[i], chain);
	printf("%zu %.1f\n", frames, frames ? (now_ns() - begin) / frames : 0);
	return 0;
}
