// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
//
// Demo workload whose true stack is known: f0 to f19, each called by the one
// before through a trampoline of its own, the three kinds in turn. Built with
// frame pointers, so that only the trampolines (and the C library) lack them.
//
// Usage: c-trampolines TRUTH-FILE SECONDS [unregistered]
//
// TRUTH-FILE gets what a complete stack must contain, measured without any
// help of the kernel: the return addresses between main and f19 are read off
// the frame pointer chain while it is walked down once, those outside main are
// what the C library's own unwinder says. Then CPU is burnt at every depth for
// about SECONDS. With "unregistered" the kernel forgets all windows first.

#include <errno.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sfjit.h>

#define DEPTH		20
#define NR_KINDS	3
#define SLOT_SIZE	16
#define MAX_OUTER	16

/* The sixth argument is the target of the kinds that take it there. */
typedef long (*level_fn)(long n, long, long, long, long, void *target);
#define LEVEL_ARGS long n, long a1, long a2, long a3, long a4, void *target

/* Neither inlined, nor cloned, nor merged with another. */
#define OPAQUE __attribute__((noipa))

static const char *const kind_names[NR_KINDS] = { "arg", "slot", "rbp" };
static struct sfjit_pool *pools[NR_KINDS];
static level_fn entry[DEPTH];
static level_fn level[DEPTH];
static uintptr_t return_to_tramp[DEPTH];
static uintptr_t return_to_caller[DEPTH];
static uintptr_t return_from_spin[DEPTH];
static unsigned long long deadline;
static int recording = 1;
static FILE *truth;

static void die(const char *what, int error)
{
	fprintf(stderr, "c-trampolines: %s: %s\n", what, strerror(error));
	exit(1);
}

static inline long burn(long x, int times)
{
	while (times--) {
		x = x * 1103515245 + 12345;
		__asm__ volatile("" : "+r" (x));
	}
	return x;
}

/*
 * What a frame of level @n looks like: fp[0] saved rbp, fp[1] return address
 * into the trampoline, fp[2] the one word every kind of trampoline pushes,
 * fp[3] return address into the trampoline's caller.
 */
static inline void record_level(long n, uintptr_t *fp)
{
	return_to_tramp[n] = fp[1];
	return_to_caller[n] = fp[3];
}

static OPAQUE long spin(long n, long x)
{
	if (recording)
		return_from_spin[n] = (uintptr_t)__builtin_return_address(0);
	return burn(x, 60);
}

/* Work before and after the call keeps it from becoming a jump. */
#define LEVEL(N, BELOW) \
static OPAQUE long f##N(LEVEL_ARGS) \
{ \
	long x = burn(n, 15); \
\
	if (recording) \
		record_level(N, __builtin_frame_address(0)); \
	x += spin(N, x); \
	BELOW; \
	return burn(x, 5); \
}

#define CALL(N) (x += entry[N](x, a1, a2, a3, a4, (void *)level[N]))

LEVEL(19, (void)target)
LEVEL(18, CALL(19))
LEVEL(17, CALL(18))
LEVEL(16, CALL(17))
LEVEL(15, CALL(16))
LEVEL(14, CALL(15))
LEVEL(13, CALL(14))
LEVEL(12, CALL(13))
LEVEL(11, CALL(12))
LEVEL(10, CALL(11))
LEVEL(9, CALL(10))
LEVEL(8, CALL(9))
LEVEL(7, CALL(8))
LEVEL(6, CALL(7))
LEVEL(5, CALL(6))
LEVEL(4, CALL(5))
LEVEL(3, CALL(4))
LEVEL(2, CALL(3))
LEVEL(1, CALL(2))
LEVEL(0, CALL(1))

static level_fn level[DEPTH] = {
	f0, f1, f2, f3, f4, f5, f6, f7, f8, f9,
	f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
};

static void make_trampolines(void)
{
	char name[16];
	int n, ret;

	for (n = 0; n < NR_KINDS; n++) {
		ret = sfjit_pool_create(n, &pools[n]);
		if (ret)
			die("sfjit_pool_create", -ret);
	}
	for (n = 0; n < DEPTH; n++) {
		snprintf(name, sizeof(name), "tramp:f%d", n);
		ret = sfjit_tramp_get(pools[n % NR_KINDS], (void *)level[n],
				      name, (void **)&entry[n]);
		if (ret)
			die("sfjit_tramp_get", -ret);
	}
}

/* Lines of windows in /proc/self/sframe: TEXT_START-TEXT_END KEY ... in hex. */
static int window_keys(unsigned long *keys, int max)
{
	unsigned long start, end;
	FILE *file = fopen("/proc/self/sframe", "r");
	char line[256];
	int nr = 0;

	if (!file)
		return 0;
	while (nr < max && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %lx ", &start, &end, &keys[nr]) == 3)
			nr++;
	}
	fclose(file);
	return nr;
}

static void drop_windows(void)
{
	unsigned long keys[64];
	int i, ret, nr = window_keys(keys, 64);

	for (i = 0; i < nr; i++) {
		ret = sfjit_unregister(keys[i]);
		if (ret)
			die("sfjit_unregister", -ret);
	}
}

static void write_time(const char *what)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(truth, "%s %lld.%09ld\n", what, (long long)now.tv_sec,
		now.tv_nsec);
}

/* @outer: as backtrace() in main fills it; the first is in main itself. */
static void write_truth(void *const *outer, int nr_outer)
{
	unsigned long keys[64];
	int n;

	fprintf(truth, "pid %d\n", getpid());
	fprintf(truth, "windows %d\n", window_keys(keys, 64));
	fprintf(truth, "f0 %lx\n", (unsigned long)f0);
	for (n = 0; n < DEPTH; n++)
		fprintf(truth, "level %d %s %lx %d %lx %lx %lx\n", n,
			kind_names[n % NR_KINDS], (unsigned long)entry[n],
			SLOT_SIZE, return_to_tramp[n], return_to_caller[n],
			return_from_spin[n]);
	fprintf(truth, "outer");
	for (n = 1; n < nr_outer; n++)
		fprintf(truth, " %lx", (unsigned long)outer[n]);
	fprintf(truth, "\n");
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* A clock that needs no call: a sample in the vDSO would have another stack. */
static inline unsigned long long ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* How many ticks() are a second. */
static double tick_rate(void)
{
	struct timespec nap = { .tv_nsec = 100 * 1000 * 1000 };
	unsigned long long ticks_before = ticks();
	double before = seconds();

	nanosleep(&nap, NULL);
	return (ticks() - ticks_before) / (seconds() - before);
}

/*
 * Called when @deadline has passed. From its first return to its second call
 * nothing runs but main's loop, the levels and their trampolines.
 */
static OPAQUE int next_phase(void *const *outer, int nr_outer, double wanted)
{
	if (!recording) {
		write_time("end");
		return 0;
	}
	recording = 0;
	write_truth(outer, nr_outer);
	deadline = ticks() + wanted * tick_rate();
	fflush(truth);
	write_time("begin");
	return 1;
}

/*
 * Level 0 must be called at one place: the compiler, which does not see how
 * deadline changes, has no reason to make two.
 */
int main(int argc, char **argv)
{
	void *outer[MAX_OUTER];
	double seconds;
	int nr_outer;
	long x = 0;

	if (argc < 3) {
		fprintf(stderr,
			"usage: c-trampolines TRUTH-FILE SECONDS [unregistered]\n");
		return 2;
	}
	truth = fopen(argv[1], "w");
	if (!truth)
		die(argv[1], errno);
	make_trampolines();
	if (argc > 3 && !strcmp(argv[3], "unregistered"))
		drop_windows();
	nr_outer = backtrace(outer, MAX_OUTER);
	/* Here: the measured part calls nothing whose stack is not known. */
	seconds = atof(argv[2]);
	do {
		x += entry[0](x, 0, 0, 0, 0, (void *)level[0]);
	} while (ticks() < deadline ||
		 next_phase(outer, nr_outer, seconds));
	return fclose(truth) ? 1 : 0;
}
