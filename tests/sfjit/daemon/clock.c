// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Reads a clock in the vDSO, below functions without frame pointers. A coarse clock is
 * never read by a system call.
 */
#include <time.h>

#define NOINLINE	__attribute__((noipa))

NOINLINE static void tick(void)
{
	struct timespec now;
	int i;

	for (i = 0; i < 1000; i++)
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
}

NOINLINE static void work(long times)
{
	while (times--)
		tick();
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	work(20000);
	return 0;
}
