// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Calls that are known: main > outer > middle > leaf, for a second of processor
 * time. The compiler is told how to sign return addresses.
 */
#include <stddef.h>
#include <time.h>

#include "middle.h"

NOINLINE static void leaf(void)
{
	int i;

	for (i = 0; i < 1000000; i++)
		sum += i;
}

NOINLINE static void outer(void)
{
	while (clock() < CLOCKS_PER_SEC)
		middle(NULL);
	sum++;
}

int main(void)
{
	outer();
	return sum == 1;
}
