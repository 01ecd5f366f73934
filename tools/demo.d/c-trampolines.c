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
// help of the kernel: the levels say where they return to, when they are called
// without trampolines and when through them; what is outside main is what the
// C library's own unwinder says. Then CPU is burnt at every depth for about
// SECONDS. With "unregistered" the kernel forgets all windows first.

#include <errno.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sfjit.h>
#include <slot.h>

#define DEPTH		20
#define NR_KINDS	3
#define MAX_OUTER	16
#define TRIAL_ROUNDS	1000
#define TRIAL_SECONDS	0.3

/*
 * The sixth argument is the target of the kinds that take it there, or the fifth,
 * where no more are in registers.
 */
typedef long (*level_fn)(long n, long, long, long, void *target, void *);
#define LEVEL_ARGS long n, long a1, long a2, long a3, void *fifth, void *target

/* Neither inlined, nor cloned, nor merged with another. */
#define OPAQUE __attribute__((noipa))

static const char *const kind_names[NR_KINDS] = { "arg", "slot", "rbp" };
static struct sfjit_pool *pools[NR_KINDS];
static level_fn tramp[DEPTH];
static level_fn entry[DEPTH];		/* what is called */
static level_fn level[DEPTH];
static uintptr_t return_to_tramp[DEPTH];
static uintptr_t return_to_caller[DEPTH];
static uintptr_t return_from_spin[DEPTH];
static uintptr_t *returns;		/* for the levels to note, or NULL */
static unsigned long rounds = 1;	/* until next_phase() */
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

#define CALLER() ((uintptr_t)__builtin_return_address(0))

static OPAQUE long spin(long n, long x)
{
	if (returns)
		return_from_spin[n] = CALLER();
	return burn(x, 60);
}

/* Work before and after the call keeps it from becoming a jump. */
#define LEVEL(N, BELOW) \
static OPAQUE long f##N(LEVEL_ARGS) \
{ \
	long x = burn(n, 15); \
\
	if (returns) \
		returns[N] = CALLER(); \
	x += spin(N, x); \
	BELOW; \
	return burn(x, 5); \
}

#define CALL(N) (x += entry[N](x, a1, a2, a3, (void *)level[N], \
			       (void *)level[N]))

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
				      name, (void **)&tramp[n]);
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
			kind_names[n % NR_KINDS], (unsigned long)tramp[n],
			SFJIT_SLOT_SIZE, return_to_tramp[n], return_to_caller[n],
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

static void begin_measuring(void *const *outer, int nr_outer)
{
	write_truth(outer, nr_outer);
	fflush(truth);
	write_time("begin");
}

/*
 * Called when @rounds is 0. Before the measured part each level is called once
 * by the one before and once by its trampoline, and then for a while, to find
 * out what a round takes: to ask a clock is a call, whose stack is not known.
 * In the measured part nothing runs but main's loop, the levels and their
 * trampolines.
 */
static OPAQUE int next_phase(void *const *outer, int nr_outer, double wanted)
{
	static enum { DIRECT, TRAMPOLINES, TRIAL, MEASURED } phase;
	static unsigned long tried;
	static double began;

	switch (phase) {
	case DIRECT:
		memcpy(entry, tramp, sizeof(entry));
		returns = return_to_tramp;
		rounds = 1;
		phase = TRAMPOLINES;
		return 1;
	case TRAMPOLINES:
		returns = NULL;
		began = seconds();
		rounds = TRIAL_ROUNDS;
		phase = TRIAL;
		return 1;
	case TRIAL:
		tried += TRIAL_ROUNDS;
		rounds = TRIAL_ROUNDS;
		if (seconds() - began < TRIAL_SECONDS)
			return 1;
		rounds = 1 + wanted * tried / (seconds() - began);
		phase = MEASURED;
		begin_measuring(outer, nr_outer);
		return 1;
	default:
		write_time("end");
		return 0;
	}
}

/*
 * Level 0 must be called at one place: the compiler, which does not see how
 * rounds changes, has no reason to make two.
 */
int main(int argc, char **argv)
{
	void *outer[MAX_OUTER];
	double wanted;
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
	wanted = atof(argv[2]);
	memcpy(entry, level, sizeof(entry));
	returns = return_to_caller;
	do {
		x += entry[0](x, 0, 0, 0, (void *)level[0], (void *)level[0]);
	} while (--rounds || next_phase(outer, nr_outer, wanted));
	return fclose(truth) ? 1 : 0;
}
