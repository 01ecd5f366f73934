// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: lli lli.bc STAMPS SECONDS
 *
 * The calls of lli.graph: a cycle, callbacks of qsort(), exceptions, a second
 * thread.  lli has no names for perf: the program writes them itself.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Nothing is inlined, and no call is the last thing that a function does. */
#define APART __attribute__((noinline, used))

#define NR 8

/* One of so many rounds ends with an exception. */
#ifndef ROUNDS
#define ROUNDS 8
#endif
#define BILLION 1000000000L

static volatile int sum;

/*
 * A function of the program that runs the module: so far away that a stub leads
 * there, which has no call frame information. It does nothing with these.
 */
#ifdef STUBS
extern "C" int sfjit_area_stat(const void *, void *);
#define CALL_STUB() sfjit_area_stat(nullptr, nullptr)
#else
#define CALL_STUB() 0
#endif

namespace calls {

APART int alpha(int n);

APART int epsilon(int n)
{
	for (int i = 0; i < 400; i++)
		sum = sum * 31 + i + n + CALL_STUB();
	return sum;
}

APART int delta(int n)
{
	return epsilon(n) + epsilon(n + 1);
}

APART int eta(int a)
{
	for (int i = 0; i < 20; i++)
		sum = (sum ^ a) + i;
	return a;
}

APART int compare(const void *a, const void *b)
{
	return eta(*(const int *)a) - eta(*(const int *)b);
}

APART int gamma(int n)
{
	if (n == -7)
		throw n;
	if (n <= 0)
		return delta(n) + 1;
	return delta(n) + alpha(n - 1) + 1;
}

APART int beta(int n)
{
	int list[NR] = { 5, 3, 8, 1, n, 7, 2, 6 };

	if (n % 4 == 0)
		qsort(list, NR, sizeof(list[0]), compare);
	return gamma(n - 1) + list[0];
}

APART int alpha(int n)
{
	return beta(n - 1) + 1;
}

APART long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * BILLION + t.tv_nsec;
}

APART long work(long end)
{
	for (int i = 0; now() < end; i++) {
		try {
			alpha(12);
			if (i % ROUNDS == 0)
				alpha(-5);
		} catch (int n) {
			sum += n;
		}
	}
	return end;
}

APART void *thread(void *end)
{
	work(*(long *)end);
	return end;
}

APART void last(void)
{
}

}

static int by_address(const void *a, const void *b)
{
	const long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static const struct {
	void *start;
	const char *name;
} names[] = {
	{ (void *)calls::alpha, "alpha" },
	{ (void *)calls::beta, "beta" },
	{ (void *)calls::compare, "compare" },
	{ (void *)calls::delta, "delta" },
	{ (void *)calls::epsilon, "epsilon" },
	{ (void *)calls::eta, "eta" },
	{ (void *)calls::gamma, "gamma" },
	{ (void *)calls::now, "now" },
	{ (void *)calls::thread, "thread" },
	{ (void *)calls::work, "work" },
	{ (void *)calls::last, "last" },
};

#define NAMES ((int)(sizeof(names) / sizeof(names[0])))

/* A function ends where the next one begins. */
static void write_names(void)
{
	long starts[NAMES];
	char path[64];
	FILE *file;

	for (int i = 0; i < NAMES; i++)
		starts[i] = (long)names[i].start;
	qsort(starts, NAMES, sizeof(long), by_address);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "w");
	for (int i = 0; i < NAMES - 1; i++)
		for (int j = 0; j < NAMES; j++)
			if ((long)names[j].start == starts[i])
				fprintf(file, "%lx %lx jit::%s\n", starts[i],
					starts[i + 1] - starts[i],
					names[j].name);
	fclose(file);
}

static void stamp(const char *path, const char *what, long t)
{
	FILE *file = fopen(path, "a");

	fprintf(file, "%s %ld.%09ld\n", what, t / BILLION, t % BILLION);
	fclose(file);
}

int main(int argc, char **argv)
{
	pthread_t second;
	long end;

	if (argc != 3)
		return 2;
	write_names();
	end = calls::now();
	stamp(argv[1], "begin", end);
	end += atoi(argv[2]) * BILLION;
	pthread_create(&second, NULL, calls::thread, &end);
	calls::work(end);
	stamp(argv[1], "end", calls::now());
	pthread_join(second, NULL);
	return 0;
}
