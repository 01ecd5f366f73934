// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Known calls: main > outer > middle > leaf, for a second of CPU time. Compiler
 * flags decide how return addresses are signed.
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
