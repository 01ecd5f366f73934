// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: chain arg|slot|rbp on|off|DIR SECONDS
 *
 * A stack for perf to find: main, outer, middle, trampoline, busy, which spins
 * for so many seconds. With "off" the window of the trampoline is taken away. With
 * a directory it need not have one: its call frame information is in a jitdump
 * there.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sfjit.h>
#include <sfjit/names.h>

#define NANOSECONDS	1000000000LL

typedef long (*target_fn)(long);
typedef long (*passing_fn)(long, long, long, long, long, const void *);

static const char * const kinds[] = {
	[SFJIT_TRAMP_ARG] = "arg",
	[SFJIT_TRAMP_SLOT] = "slot",
	[SFJIT_TRAMP_RBP] = "rbp",
};

static long long seconds;

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NANOSECONDS + ts.tv_nsec;
}

/* Nearly all of the time passes in the inner loop. */
__attribute__((noinline)) long busy(long rounds)
{
	long long end = now() + seconds * NANOSECONDS;
	volatile long i;

	do {
		for (i = 0; i < rounds; i++)
			;
	} while (now() < end);
	return i;
}

__attribute__((noinline)) long middle(unsigned int kind, void *tramp)
{
	long ret;

	if (kind == SFJIT_TRAMP_SLOT)
		ret = ((target_fn)tramp)(1000000);
	else
		ret = ((passing_fn)tramp)(1000000, 0, 0, 0, 0, busy);
	return ret + 1;
}

__attribute__((noinline)) long outer(unsigned int kind, void *tramp)
{
	return middle(kind, tramp) + 1;
}

static int find_kind(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name, kinds[i]))
			return i;
	return -1;
}

static int fail(const char *what, int ret)
{
	fprintf(stderr, "chain: %s: %s\n", what, strerror(-ret));
	return 1;
}

int main(int argc, char **argv)
{
	int kind = argc == 4 ? find_kind(argv[1]) : -1;
	struct sfjit_pool *pool;
	void *tramp;
	bool dumps;
	int ret;

	if (kind < 0)
		return 2;
	seconds = atoll(argv[3]);
	dumps = argv[2][0] == '/';
	if (!dumps && !sfjit_available(SFJIT_QUERY_KERNEL))
		return 77;
	ret = dumps ? sfjit_names_open(SFJIT_NAMES_JITDUMP, argv[2]) : 0;
	if (ret)
		return fail("sfjit_names_open", ret);
	ret = sfjit_pool_create(kind, &pool);
	if (ret)
		return fail("sfjit_pool_create", ret);
	ret = sfjit_tramp_get(pool, busy, "trampoline", &tramp);
	if (ret)
		return fail("sfjit_tramp_get", ret);
	/* The first trampoline is where its window begins: that is the key. */
	if (!strcmp(argv[2], "off"))
		ret = sfjit_unregister((uintptr_t)tramp);
	if (ret)
		return fail("sfjit_unregister", ret);
	return outer(kind, tramp) != 1000002;
}
