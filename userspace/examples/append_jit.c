// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Append-only: a method JIT that fills an area from start to end, and drops all
 * of its code when the area is full. Uses a live window.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include <sfjit/live.h>

#include "emit.h"

#define AREA	0x20000
#define SPACING	192		/* with room for what perf maps behind */
#define DEPTH	8
#define ROUND_NS 8000000

static unsigned char *writable, *text;
static struct sfjit_live *live;

__attribute__((noinline)) void leaf(void)
{
	volatile int i;

	for (i = 0; i < 20000; i++)
		;
}

/* Each function calls the previous one; every eighth is a leaf. */
static void *compile(size_t place, unsigned long number)
{
	unsigned char *at = text + place * SPACING;
	struct sfjit_function f;
	struct emit e;
	char name[64];

	emit_begin(&e);
	emit_enter(&e);
	emit_spin(&e, 20000);
	if (place % DEPTH)
		emit_call(&e, at - SPACING);
	else
		emit_call(&e, leaf);
	emit_leave(&e);
	emit_ret(&e);
	check(emit_end(&e, writable + place * SPACING, at, &f), "rows");
	check(sfjit_live_publish(live, &f), "publish");
	if (place % DEPTH)
		snprintf(name, sizeof(name), "f%lu>f%lu", number, number - 1);
	else
		snprintf(name, sizeof(name), "f%lu>leaf", number);
	sfjit_names_load(&f, SPACING - f.size, name);
	return at;
}

int main(int argc, char **argv)
{
	long long end = begin_run(argc, argv);
	unsigned long number = 0;
	size_t place = 0;
	void *function;

	writable = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	text = mremap(writable, 0, AREA, MREMAP_MAYMOVE);
	if (writable == MAP_FAILED || text == MAP_FAILED ||
	    mprotect(text, AREA, PROT_READ | PROT_EXEC))
		return 1;
	check(sfjit_live_create(text, AREA, 0, 0, &live), "create");
	while (now_ns() < end) {
		if (place == AREA / SPACING / DEPTH * DEPTH) {
			sfjit_live_reset(live);
			sfjit_names_drop(text, AREA);
			place = 0;
		}
		function = compile(place++, number++);
		run(function, now_ns() + ROUND_NS);
	}
	sfjit_live_retire(live);
	return end_run(number);
}
