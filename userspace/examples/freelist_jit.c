// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Free list: functions of different sizes come and go in any order, in reused
 * blocks of an area. Each function calls one that still exists.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include <sfjit/area.h>

#include "emit.h"

#define AREA	0x10000
#define BLOCK	512		/* with room for what perf maps behind */
#define BLOCKS	(AREA / BLOCK)
#define LIVE	16
#define ROUND_NS 8000000

static unsigned char *writable, *text;
static struct sfjit_area *area;

/* Live functions, oldest first; each calls the previous one. */
static struct {
	unsigned int	block;
	uint32_t	size;
	unsigned long	number;
} live[LIVE];
static bool used[BLOCKS];

__attribute__((noinline)) void leaf(void)
{
	volatile int i;

	for (i = 0; i < 20000; i++)
		;
}

static unsigned int take_block(void)
{
	unsigned int block;

	do
		block = rand() % BLOCKS;
	while (used[block]);
	used[block] = true;
	return block;
}

/* Each change takes some bytes of the table; a new one has only what is live. */
static int publish(const struct sfjit_function *f)
{
	int ret = sfjit_area_publish(area, f);

	if (ret != -ENOSPC)
		return ret;
	ret = sfjit_area_grow(area, NULL, 0, 0, 0);
	return ret ? ret : sfjit_area_publish(area, f);
}

/* The first function of a stack calls a leaf. */
static void compile(unsigned int place, unsigned long number)
{
	unsigned int block = take_block();
	unsigned char *at = text + block * BLOCK;
	struct sfjit_function f;
	char name[64];
	struct emit e;

	emit_begin(&e);
	emit_enter(&e);
	emit_spin(&e, 20000);
	if (place)
		emit_call(&e, text + live[place - 1].block * BLOCK);
	else
		emit_call(&e, leaf);
	if (number % 3)
		emit_spin(&e, 10000);
	emit_leave(&e);
	emit_ret(&e);
	check(emit_end(&e, writable + block * BLOCK, at, &f), "rows");
	check(publish(&f), "publish");
	live[place].block = block;
	live[place].size = f.size;
	live[place].number = number;
	if (place)
		snprintf(name, sizeof(name), "f%lu>f%lu", number,
			 live[place - 1].number);
	else
		snprintf(name, sizeof(name), "f%lu>leaf", number);
	sfjit_names_load(&f, BLOCK - f.size, name);
}

/* No thread runs it, since there is no other thread. */
static void free_function(unsigned int place)
{
	unsigned char *at = text + live[place].block * BLOCK;

	check(sfjit_area_withdraw(area, at), "withdraw");
	sfjit_names_drop(at, live[place].size);
	memset(writable + live[place].block * BLOCK, 0xcc, BLOCK);
	used[live[place].block] = false;
}

int main(int argc, char **argv)
{
	long long end = begin_run(argc, argv);
	unsigned long number = 0;
	unsigned int nr = 0, keep;

	writable = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	text = mremap(writable, 0, AREA, MREMAP_MAYMOVE);
	if (writable == MAP_FAILED || text == MAP_FAILED ||
	    mprotect(text, AREA, PROT_READ | PROT_EXEC))
		return 1;
	check(sfjit_area_create(text, AREA, 0, 0, &area), "create");
	while (now_ns() < end) {
		/* Free some of the newest, which no function calls any more. */
		keep = nr ? rand() % nr : 0;
		if (nr == LIVE)
			while (nr > keep)
				free_function(--nr);
		compile(nr++, number++);
		run(text + live[nr - 1].block * BLOCK, now_ns() + ROUND_NS);
	}
	sfjit_area_retire(area);
	return end_run(number);
}
