// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* usage: static ROUNDS: work of a statically linked program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static long sum_round(int round)
{
	static char text[4000][16];
	long sum = 0;
	int i;

	for (i = 0; i < 4000; i++)
		snprintf(text[i], sizeof(text[i]), "%d", (i * 7919 + round) % 4001);
	qsort(text, 4000, sizeof(text[0]), by_text);
	for (i = 0; i < 4000; i += 100)
		sum += strtol(text[i], NULL, 10);
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, i;
	long sum = 0;

	getchar();
	for (i = 0; i < rounds; i++)
		sum += sum_round(i);
	printf("%ld\n", sum);
	return 0;
}
