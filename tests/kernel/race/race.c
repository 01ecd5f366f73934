// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: race [SECONDS [SEED]]
 *
 * Changes the windows of a process from many threads at once, under perf; see
 * race.h. Runs until each check was looked at often enough, and for SECONDS at
 * least. For a guest, as root.
 */
#include <stdio.h>
#include <stdlib.h>

#include "race.h"

#define MAX_THREADS	24

/* A part of what is enough: each thread has done what it does. */
#define WARM_UP		10
#define QUIET_US	500000

static const struct check all_checks[NR_CHECKS] = {
	[CHECK_FP] = CHECK("stacks of code whose window stays, fp"),
	[CHECK_DEFER] = CHECK("stacks of code whose window stays, deferred"),
	[CHECK_REPLACED_FP] =
		CHECK("stacks of code whose window is replaced, fp"),
	[CHECK_REPLACED_DEFER] =
		CHECK("stacks of code whose window is replaced, deferred"),
	[CHECK_OVERTAKEN] = CHECK("few walks are overtaken, and counted"),
	[CHECK_TOGGLED] = CHECK("stacks of code whose window comes and goes"),
	[CHECK_POISON] = CHECK("bytes of old sections make no frame"),
	[CHECK_RECORDS] = CHECK("samples are whole"),
	[CHECK_ERRNO] = CHECK("results of calls about a thread's windows"),
	[CHECK_CROWD] = CHECK("results of calls about everybody's windows"),
	[CHECK_QUIET] = CHECK("windows that are there are those that must be"),
	[CHECK_KEPT] =
		CHECK("/proc shows windows that stay once, during changes"),
	[CHECK_PROC_SELF] =
		CHECK("/proc shows windows in order, during changes"),
	[CHECK_PROC_OTHER] = CHECK("/proc of another process, during changes"),
	[CHECK_CHILD] = CHECK("children have windows of their own"),
	[CHECK_EXEC] = CHECK("programs start without windows"),
	[CHECK_KILL] = CHECK("processes killed while they change windows"),
	[CHECK_THREAD] = CHECK("threads that end, with their text"),
	[CHECK_ORPHAN] = CHECK("unmapped text leaves no window or key"),
};

/* On each machine, however busy; 0: looked at when all is over. */
static const unsigned long enough[NR_CHECKS] = {
	[CHECK_FP] = 2000,
	[CHECK_DEFER] = 300,
	[CHECK_REPLACED_FP] = 2000,
	[CHECK_REPLACED_DEFER] = 300,
	[CHECK_TOGGLED] = 2000,
	[CHECK_POISON] = 10000,
	[CHECK_ERRNO] = 50000,
	[CHECK_CROWD] = 50000,
	[CHECK_QUIET] = 1000,
	[CHECK_KEPT] = 100,
	[CHECK_PROC_SELF] = 100,
	[CHECK_PROC_OTHER] = 50,
	[CHECK_CHILD] = 10000,
	[CHECK_EXEC] = 200,
	[CHECK_KILL] = 50,
	[CHECK_THREAD] = 500,
	[CHECK_ORPHAN] = 50000,
};

struct check *checks;
/* Of what is enough. */
static unsigned int part = WARM_UP;

static pthread_rwlock_t changes;
static pthread_t threads[MAX_THREADS];
static unsigned int nr_threads;
static bool over;

bool race_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

void change_begin(void)
{
	pthread_rwlock_rdlock(&changes);
}

void change_end(void)
{
	pthread_rwlock_unlock(&changes);
}

bool maybe_packed(uint64_t *rng)
{
	return rng_below(rng, 2);
}

void thread_start(void *(*fn)(void *), void *arg)
{
	if (nr_threads == MAX_THREADS ||
	    pthread_create(&threads[nr_threads], NULL, fn, arg)) {
		result(false, "threads start", "pthread_create");
		give_up();
	}
	nr_threads++;
}

static void start_threads(void)
{
	uintptr_t i;

	for (i = 0; i < NR_SPINNERS; i++)
		thread_start(spin_run, (void *)i);
	for (i = 0; i < NR_CHURNERS; i++)
		thread_start(churn_run, (void *)i);
	for (i = 0; i < 2; i++) {
		thread_start(crowd_run, (void *)i);
		thread_start(ruin_run, (void *)i);
	}
	thread_start(replace_run, NULL);
	thread_start(toggle_run, NULL);
	thread_start(demolish_run, NULL);
	thread_start(reader_run, NULL);
	thread_start(fork_run, NULL);
	thread_start(exec_run, NULL);
	thread_start(thread_run, NULL);
}

static void watch(double seconds)
{
	double end = seconds_now() + seconds;
	unsigned long before[NR_CHECKS], wanted[NR_CHECKS];
	unsigned int i;

	for (i = 0; i < NR_CHECKS; i++)
		wanted[i] = enough[i] / part;
	checks_count(checks, before, NR_CHECKS);
	while (seconds_now() < end ||
	       !checks_enough(checks, wanted, before, NR_CHECKS)) {
		usleep(QUIET_US);
		leak_watch();
		pthread_rwlock_wrlock(&changes);
		quiet_check();
		pthread_rwlock_unlock(&changes);
	}
}

static int race(double seconds)
{
	int ret;

	gate_init(&changes);
	ret = area_init();
	if (!ret)
		ret = swap_init();
	if (!ret)
		ret = sample_start();
	if (ret) {
		result(false, "race starts", "%d", ret);
		return 1;
	}
	start_threads();
	watch(seconds);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	while (nr_threads)
		pthread_join(threads[--nr_threads], NULL);
	ret = sample_stop();
	check_that(&checks[CHECK_RECORDS], !ret, "reading samples: %d", ret);
	quiet_check();
	swap_check();
	ruin_check();
	return 0;
}

static int prepare(const char *seed)
{
	if (sft_missing())
		exit(skip_all("race", sft_missing()));
	rng_seed(seed);
	checks = checks_share(all_checks, NR_CHECKS);
	sample_prepare();
	if (leak_init())
		puts("# no memory cgroup");
	return checks ? 0 : -ENOMEM;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;

	if (argc > 1 && !strcmp(argv[1], AFTER_EXEC)) {
		not_the_test();
		return after_exec();
	}
	if (prepare(argc > 2 ? argv[2] : NULL))
		return 1;

	/* The first time, caches fill that stay so. */
	leak_run(race, 0);
	leak_begin();
	part = 1;
	if (leak_run(race, seconds))
		result(false, "race", "it ended early");
	checks_print(checks, NR_CHECKS);
	leak_end();
	return finish();
}
