// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: step [-q] LIBC-TABLE PYTHON-TABLE
 *
 * Walks samples with the kernel's code in user space: what full callchains
 * read, and how long they take on this machine. Prints lines
 *	walk NAME FRAMES READS SECTIONS LINES PAGES WARM COLD
 *	limit US COLD	the walk of the worst table with this deadline
 * for whole walks, see timed.h. The times do not include STAC and CLAC. Beside each
 * TABLE, which is a section, is TABLE.packed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "big.h"
#include "legal.h"
#include "made.h"
#include "measure.h"
#include "shape.h"
#include "timed.h"

#define PAGE		4096
#define GIGABYTE	((size_t)1 << 30)
#define NO_LIMIT	1000000000

/* Steps of a full callchain, including the sample's. */
#define STEPS		STACK_PERF

static struct stack stack;
static uint8_t *far_memory;	/* uses one page of each gigabyte */

static void map_far_memory(void)
{
	size_t size = (KERNEL_MAX_STACK + 2) * GIGABYTE;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		die("no %zu bytes of address space: %m", size);
	far_memory = (void *)(((uintptr_t)memory + GIGABYTE) & -GIGABYTE);
}

static void print_walk(const char *name, const struct timed_walk *walk)
{
	printf("walk %s ", name);
	timed_print(walk);
}

/* If @in_two_pages, each frame has one word in each of two pages. */
static void print_frame_pointers(const char *name, size_t distance,
				 int in_two_pages)
{
	struct timed_walk walk = { .ip = 1 << 20, .by_fp = 1 };
	uint8_t *at = far_memory + PAGE - (in_two_pages ? 8 : 0);
	uint64_t *frame, i;

	walk.fp = at;
	for (i = 1; i < KERNEL_MAX_STACK; i++) {
		frame = (uint64_t *)at;
		at += distance;
		frame[0] = i < KERNEL_MAX_STACK - 1 ? (uintptr_t)at : 0;
		frame[1] = walk.ip + i;
	}
	print_walk(name, &walk);
}

static struct timed_walk walk_of_stack(void)
{
	return (struct timed_walk){
		.ip = (uintptr_t)bench_trigger_insn,
		.sp = stack.words, .fp = stack.words + 2,
	};
}

static void print_stack(const char *name)
{
	const struct timed_walk walk = walk_of_stack();
	uint64_t chain[KERNEL_MAX_STACK];
	size_t nr = timed_run(&walk, chain);

	if (nr != stack.depth + 1 ||
	    memcmp(chain + 1, stack.chain, stack.depth * sizeof(*chain)))
		die("%s: %zu addresses found of %zu", name, nr,
		    stack.depth + 1);
	print_walk(name, &walk);
}

static void print_shape(const char *name, const struct shape *shape,
			const char *arg)
{
	shape->enter(arg);
	stack_init(&stack);
	shape->build(&stack, STEPS);
	print_stack(name);
	kernel_forget_windows();
	shape->leave();
}

static void print_legal(const char *name, const struct legal_kind *kind)
{
	legal_enter(kind);
	legal_build(&stack, STEPS, 0);
	print_stack(name);
	kernel_forget_windows();
	legal_leave();
}

static void print_big(const char *name)
{
	big_enter();
	stack_init(&stack);
	/* The trigger's frame keeps a frame pointer. */
	while (stack.depth < STEPS - 1)
		stack_add_row(&stack, big_call(), 0, BIG_CFA, 0);
	stack_end(&stack, (uintptr_t)bench_trigger_insn);
	print_stack(name);
	kernel_forget_windows();
	big_leave();
}

/*
 * The worst walk found so far: each step is in another window with its own
 * section, whose index has maximum size and whose search goes all the way to
 * one end. Each frame is a gigabyte from the next, in two pages.
 */
static struct timed_walk enter_worst(int rows)
{
	const struct made_table table = {
		.probes = MADE_MAX_PROBES, .rows = rows,
		.kind = MADE_FLEX_ALL, .start_size = 2, .word_size = 2,
		.tail = 64,
	};
	uint8_t *at = far_memory;
	uint64_t *frame;
	size_t i;

	for (i = 0; i <= STEPS; i++) {
		made_choose(i);
		made_register(&table, i);
		frame = (uint64_t *)at;
		at += GIGABYTE;
		*frame = (uintptr_t)at;
		((uint64_t *)at)[-1] = made_text(i + 1) + MADE_CALL;
		((uint64_t *)at)[-2] = 0;
	}
	return (struct timed_walk){
		.ip = made_text(0) + MADE_CALL, .sp = far_memory,
	};
}

static void print_worst(int rows)
{
	const struct timed_walk walk = enter_worst(rows);
	char name[32];

	snprintf(name, sizeof(name), "worst-%d", rows);
	print_walk(name, &walk);
	kernel_forget_windows();
}

static void print_limits(int rows)
{
	static const unsigned int limits[] = { 5, 10, 20, 30, 40, 50 };
	const struct timed_walk walk = enter_worst(rows);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		kernel_set_limit(limits[i] * 1000);
		printf("limit %u %" PRIu64 "\n", limits[i], timed_cold(&walk));
	}
	kernel_set_limit(NO_LIMIT);
	kernel_forget_windows();
}

int main(int argc, char **argv)
{
	int quick = argc > 1 && !strcmp(argv[1], "-q");

	if (argc != 3 + quick)
		die("usage: step [-q] LIBC-TABLE PYTHON-TABLE");
	argv += quick;
	timed_init(quick ? 3 : 31);
	kernel_set_limit(NO_LIMIT);
	map_far_memory();
	made_map(STEPS + 2, STEPS + 2);

	print_frame_pointers("fp", 16, 0);
	print_frame_pointers("fp-page", PAGE, 0);
	print_frame_pointers("fp-pages", 2 * PAGE, 1);
	print_frame_pointers("fp-far", GIGABYTE, 1);
	print_shape("beside", &shape_beside, NULL);
	print_shape("pool", &shape_arg, NULL);
	print_shape("libc-packed", &shape_packed, argv[1]);
	print_shape("python-packed", &shape_packed, argv[2]);
	print_shape("libc", &shape_table, argv[1]);
	print_shape("python", &shape_table, argv[2]);
	print_legal("legal", &legal_kinds[2]);
	print_big("index");
	print_worst(1);
	print_worst(8);
	print_worst(MADE_MAX_ROWS);
	print_limits(1);
	print_limits(MADE_MAX_ROWS);
	return 0;
}
