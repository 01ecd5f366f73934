// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define SFJIT_SERIES_SOURCE
#include "series.h"
#include "kernel/unwind/sframe_cache.c"
#include "sfjit.h"

/* No walk is running, nor can one begin. */
void sfjit_cache_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		vfree(per_cpu(sframe_caches, cpu));
}
