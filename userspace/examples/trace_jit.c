// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Traces: an area that is filled from the top down. The interpreter calls a
 * root trace, which makes a frame. When a guard fails, it jumps to a side
 * trace, which uses the same frame, calls the runtime, and returns to the
 * interpreter. All traces are dropped together.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include <sfjit/area.h>

#include "emit.h"

#define AREA	0x10000
#define SPACING	512		/* with room for what perf maps behind */
#define ROUND_NS 8000000

/* The frame made by emit_enter(): return address, rbp, 32 bytes. */
#define FRAME	48

static unsigned char *writable, *text, *top;
static struct sfjit_area *area;

__attribute__((noinline)) void runtime(void)
{
	volatile int i;

	for (i = 0; i < 20000; i++)
		;
}

/* Place it below the last one: addresses descend. */
static void *add_trace(struct emit *e, const char *name)
{
	struct sfjit_function f;

	top -= SPACING;
	check(emit_end(e, writable + (top - text), top, &f), "rows");
	check(sfjit_area_publish(area, &f), "publish");
	sfjit_names_load(&f, SPACING - f.size, name);
	return top;
}

/* Entered with the frame of its root trace. */
static void *compile_side(unsigned long number)
{
	struct emit e;
	char name[64];

	emit_begin(&e);
	sfjit_rows_push(&e.rows, 0, RBP);
	sfjit_rows_depth(&e.rows, 0, FRAME);
	emit_spin(&e, 10000);
	emit_call(&e, runtime);
	emit_leave(&e);
	emit_ret(&e);
	snprintf(name, sizeof(name), "side%lu>runtime", number);
	return add_trace(&e, name);
}

static void *compile_root(const void *side, unsigned long number)
{
	struct emit e;
	char name[64];

	emit_begin(&e);
	emit_enter(&e);
	emit_spin(&e, 20000);
	emit_call(&e, runtime);
	emit_spin(&e, 10000);
	emit_jump(&e, side);
	snprintf(name, sizeof(name), "root%lu>runtime", number);
	return add_trace(&e, name);
}

int main(int argc, char **argv)
{
	long long end = begin_run(argc, argv);
	unsigned long number;
	void *side = NULL;

	writable = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	text = mremap(writable, 0, AREA, MREMAP_MAYMOVE);
	if (writable == MAP_FAILED || text == MAP_FAILED ||
	    mprotect(text, AREA, PROT_READ | PROT_EXEC))
		return 1;
	check(sfjit_area_create(text, AREA, 0, 0, &area), "create");
	top = text + AREA;
	for (number = 0; now_ns() < end; number++) {
		if (top < text + 2 * SPACING) {
			sfjit_area_reset(area, NULL, 0);
			sfjit_names_drop(text, AREA);
			top = text + AREA;
			side = NULL;
		}
		/* Some roots share a side trace. */
		if (!side || number % 4 == 0)
			side = compile_side(number);
		run(compile_root(side, number), now_ns() + ROUND_NS);
	}
	sfjit_area_retire(area);
	return end_run(number);
}
