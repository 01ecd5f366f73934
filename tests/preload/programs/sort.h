// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Functions of libc and of the program on one stack: qsort() calls compare(). */
#ifndef SORT_H
#define SORT_H

#include <stdlib.h>

#define NUMBERS		2000
#define NOINLINE	__attribute__((noipa))

static long numbers[NUMBERS];

NOINLINE static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

NOINLINE static void sort_once(void)
{
	int i;

	for (i = 0; i < NUMBERS; i++)
		numbers[i] = (i * 7919L) % NUMBERS;
	qsort(numbers, NUMBERS, sizeof(*numbers), compare);
	__asm__ volatile("" ::: "memory");
}

#endif
