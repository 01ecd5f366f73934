// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A program whose stacks are known: main() calls two functions, both call the
 * third, which works. Prints to stderr where these calls return to, the third's
 * first.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static volatile unsigned int sink;
static uint64_t returns[3];

/* Kept apart; no call is the last thing that a function does. */
#define FUNCTION	__attribute__((noipa))

FUNCTION static void work(void)
{
	unsigned int i;

	returns[2] = (uint64_t)__builtin_return_address(0);
	for (i = 0; i < 200000; i++)
		sink += i;
}

FUNCTION static void first(void)
{
	volatile char room[100];

	room[0] = 1;
	returns[0] = (uint64_t)__builtin_return_address(0);
	work();
	sink += room[0];
}

FUNCTION static unsigned int second(unsigned int a, unsigned int b)
{
	returns[1] = (uint64_t)__builtin_return_address(0);
	work();
	return a * b;
}

int main(void)
{
	struct timespec start, now;
	uint64_t in_first, in_second;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	do {
		first();
		in_first = returns[2];
		sink += second(sink, 3);
		in_second = returns[2];
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.tv_sec - start.tv_sec < 2);
	fprintf(stderr, "%#" PRIx64 " %#" PRIx64 "\n%#" PRIx64 " %#" PRIx64 "\n",
		in_first, returns[0], in_second, returns[1]);
	return 0;
}
