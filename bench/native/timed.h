/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* What a walk of the kernel's code reads, and the time that it takes here. */
#ifndef BENCH_TIMED_H
#define BENCH_TIMED_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/walk.h"

struct timed_walk {
	uintptr_t ip;
	const void *sp, *fp;
	int by_fp;		/* as a kernel without windows does it */
};

/* Walks are timed as often as this, at most TIMED_MAX. */
#define TIMED_MAX	101
void timed_init(unsigned int times);

size_t timed_run(const struct timed_walk *walk, uint64_t *chain);

/*
 * Prints frames, reads of user memory, access sections, cache lines and pages
 * of user memory, and nanoseconds: with the rules in their cache; without, but
 * with all memory in the caches; and with nothing, not even the page tables.
 */
void timed_print(const struct timed_walk *walk);

/* Only the latter. */
uint64_t timed_cold(const struct timed_walk *walk);

#endif /* BENCH_TIMED_H */
