// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Has the kernel given back everything? Counted are the objects of the caches
 * that windows and trees of windows are from, and what is charged to the
 * memory cgroup of processes that are gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "race.h"

#define CGROUP		"/sys/fs/cgroup"
#define OWN_CGROUP	CGROUP "/sfjit-race"
#define SLAB		"/sys/kernel/slab/"
#define BARRIER		"/sys/module/rcutree/parameters/do_rcu_barrier"

/*
 * Caches are shared with others of their size, and CPUs keep some freed
 * objects. A leak of the race is thousands.
 */
#define SLACK_OBJECTS	256
#define SLACK_BYTES	(64 * 1024)
/* Each CPU keeps some pages for the next charge. */
#define SLACK_PAGES	(1024 * 1024)
/* What may take so long is a hang; what changes for so long is of others. */
#define HANGS_SECONDS	600
#define DRAINS		20

enum { NODES, CHARGED_SLAB, CHARGED, NR_AMOUNTS };

static const struct {
	const char	*name;
	const char	*path;
	const char	*word;
	long		slack;
} amounts[NR_AMOUNTS] = {
	{ "objects of the cache of tree nodes return", SLAB "maple_node", "",
	  SLACK_OBJECTS },
	{ "objects charged to the cgroup return", OWN_CGROUP "/memory.stat",
	  "slab_unreclaimable ", SLACK_BYTES },
	{ "all that is charged to the cgroup returns",
	  OWN_CGROUP "/memory.current", "", SLACK_PAGES },
};

static long before[NR_AMOUNTS];
/* Shared with the child that watches. */
static long *most;

static long amount(unsigned int nr)
{
	char path[100];

	if (nr >= CHARGED_SLAB)
		return read_number(amounts[nr].path, amounts[nr].word);
	snprintf(path, sizeof(path), "%s/objects", amounts[nr].path);
	return read_number(path, amounts[nr].word);
}

/* Callbacks run, objects that CPUs keep go back to their caches. */
static void drain(void)
{
	char path[100];
	unsigned int i;

	sft_write_text(BARRIER, "1\n");
	usleep(200000);
	for (i = 0; i < CHARGED_SLAB; i++) {
		snprintf(path, sizeof(path), "%s/shrink", amounts[i].path);
		sft_write_text(path, "1\n");
	}
}

int leak_run(int (*fn)(double), double arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (sft_write_text(OWN_CGROUP "/cgroup.procs", "0\n"))
			puts("# no memory cgroup");
		exit(fn(arg));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Until nothing changes for a second. */
void leak_begin(void)
{
	unsigned int i, drains = 0;
	bool changed;

	do {
		for (i = 0; i < NR_AMOUNTS; i++)
			before[i] = amount(i);
		sleep(1);
		drain();
		changed = false;
		for (i = 0; i < NR_AMOUNTS; i++)
			changed |= amount(i) != before[i];
	} while (changed && ++drains < DRAINS);
}

void leak_watch(void)
{
	unsigned int i;
	long now;

	for (i = 0; i < NR_AMOUNTS; i++) {
		now = amount(i);
		if (now > most[i])
			most[i] = now;
	}
}

static void check_returned(unsigned int nr, double end)
{
	long now;
	char name[200];

	while ((now = amount(nr)) > before[nr] + amounts[nr].slack) {
		if (seconds_now() > end)
			break;
		sleep(1);
		drain();
	}
	snprintf(name, sizeof(name), "%s: %ld before, up to %ld, %ld after",
		 amounts[nr].name, before[nr], most[nr], now);
	result(now <= before[nr] + amounts[nr].slack, name, "more than slack");
}

void leak_end(void)
{
	double end = seconds_now() + HANGS_SECONDS;
	char missing[200];
	unsigned int i;

	drain();
	for (i = 0; i < NR_AMOUNTS; i++) {
		if (before[i] >= 0) {
			check_returned(i, end);
			continue;
		}
		snprintf(missing, sizeof(missing),
			 "this kernel does not tell %s", amounts[i].path);
		skip(amounts[i].name, missing);
	}
}

int leak_init(void)
{
	int ret = sft_write_text(CGROUP "/cgroup.subtree_control", "+memory\n");

	most = mmap(NULL, SFT_PAGE, SFT_RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (most == MAP_FAILED)
		return -errno;
	if (!ret && mkdir(OWN_CGROUP, 0755) && errno != EEXIST)
		ret = -errno;
	return ret;
}
