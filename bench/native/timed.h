/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* What the kernel's code reads in a walk, and how long that takes here. */
#ifndef BENCH_TIMED_H
#define BENCH_TIMED_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/walk.h"

struct timed_walk {
	uintptr_t ip;
	const void *sp, *fp;
	int by_fp;		/* like a kernel without windows */
};

/* Number of times to walk, at most TIMED_MAX. */
#define TIMED_MAX	101
void timed_init(unsigned int times);

size_t timed_run(const struct timed_walk *walk, uint64_t *chain);

/*
 * Prints frames, reads of user memory, access sections, cache lines and pages
 * of user memory, and nanoseconds in two states: memory in the caches; and nothing
 * cached, not even page tables.
 */
void timed_print(const struct timed_walk *walk);

/* The last of these only. */
uint64_t timed_cold(const struct timed_walk *walk);

#endif /* BENCH_TIMED_H */
