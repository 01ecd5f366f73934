// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Work that a timer's signals interrupt, with a handler that works, too. */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS		4000
#define INTERVAL_NS	2000000

static volatile unsigned int in_handler;

/* gcc gives a frame pointer only to functions with a frame. */
static __attribute__((noipa)) unsigned int mix(unsigned int value, int rounds)
{
	unsigned int table[64] = { 0 };

	while (rounds--) {
		value = value * 1664525 + 1013904223;
		table[value >> 26] += value;
	}
	return value ^ table[value % 64];
}

static __attribute__((noipa)) unsigned int mix_twice(unsigned int value)
{
	return mix(mix(value, 2000) ^ 1, 2000);
}

static void handle(int signal)
{
	in_handler = mix_twice(in_handler);
}

int main(void)
{
	const struct itimerspec interval = {
		.it_value.tv_nsec = INTERVAL_NS,
		.it_interval.tv_nsec = INTERVAL_NS,
	};
	unsigned int value = 1;
	timer_t timer;
	int i;

	signal(SIGALRM, handle);
	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) ||
	    timer_settime(timer, 0, &interval, NULL)) {
		perror("timer");
		return 1;
	}
	for (i = 0; i < ROUNDS; i++)
		value = mix_twice(value);
	timer_delete(timer);
	printf("%u\n", value);
	return 0;
}
