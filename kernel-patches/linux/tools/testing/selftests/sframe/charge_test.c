// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Memory of windows is charged to a memory cgroup, and uncharged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness.h"

#include "slots.h"

#define CGROUP		"/sys/fs/cgroup"
#define OWN		CGROUP "/sframe_test"
#define BARRIER		"/sys/module/rcutree/parameters/do_rcu_barrier"

/* Windows of one byte each, which share a section. */
#define NR		16384

/* Bytes of a window's nodes in two trees; half if its key needs no entry. */
#define NODE_BYTES	104

/* Most bytes that a window takes. */
#define WINDOW_BYTES	(256 + NODE_BYTES)

/* Room for the charge that a CPU keeps in advance, and for a process. */
#define SLACK		(600 * 1024)
#define SETTLE_SECONDS	600

static long charged(void)
{
	FILE *file = fopen(OWN "/memory.current", "r");
	long bytes = -1;

	if (!file || fscanf(file, "%ld", &bytes) != 1)
		bytes = -1;
	if (file)
		fclose(file);
	return bytes;
}

static void set_limit(const char *limit)
{
	sft_write_text(OWN "/memory.max", limit);
}

/* Does the charge drop from @bytes by the index of NR windows? */
static bool falls_from(long bytes)
{
	int i;

	for (i = 0; i < SETTLE_SECONDS * 10; i++) {
		if (charged() <= bytes - NR * NODE_BYTES + SLACK)
			return true;
		usleep(100000);
	}
	return false;
}

/* Why the test cannot enter a cgroup, or NULL. */
static const char *enter_cgroup(void)
{
	if (sft_write_text(CGROUP "/cgroup.subtree_control", "+memory"))
		return "no memory controller at " CGROUP;
	if (mkdir(OWN, 0755) && errno != EEXIST)
		return "no cgroup can be made";
	if (sft_write_text(OWN "/cgroup.procs", "0"))
		return OWN " refuses";
	return NULL;
}

FIXTURE(charge)
{
	__u8	*text;
	__u8	*section;
	size_t	len;
	long	before;
};

FIXTURE_SETUP(charge)
{
	struct sft_fde fde = {
		.size = NR, .rows = sft_slot_arg.rows, .nr_rows = 3,
		.info = SFRAME_FDE_PCMASK, .rep_size = SFT_SLOT,
	};
	const char *why = sft_missing();

	if (!why)
		why = enter_cgroup();
	if (why)
		SKIP(return, "%s", why);

	ASSERT_EQ(0, sft_run_on(0));
	self->text = sft_map(NR, SFT_RX);
	self->section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->text);
	ASSERT_NE(NULL, self->section);
	fde.start = self->text;
	self->len = sft_build(self->section, &fde, 1);
	self->before = charged();
	ASSERT_LT(0, self->before);
}

FIXTURE_TEARDOWN(charge)
{
	sft_write_text(CGROUP "/cgroup.procs", "0");
	rmdir(OWN);
}

/* Returns the number of windows that could be registered. */
static int register_all(const __u8 *text, const __u8 *section, size_t len,
			__u32 flags)
{
	int i;

	for (i = 0; i < NR; i++)
		if (sft_register_text(i, section, len, text + i, 1, flags))
			break;
	return i;
}

#define REGISTER_ALL(flags)						\
	ASSERT_EQ(NR, register_all(self->text, self->section,		\
				   self->len, (flags)))

/* A forked child that waits, with a copy of the windows. */
struct child {
	pid_t	pid;
	int	pipe[2];
};

static int child_start(struct child *child)
{
	char byte;

	if (pipe(child->pipe))
		return -errno;
	child->pid = fork();
	if (child->pid < 0)
		return -errno;
	if (!child->pid) {
		close(child->pipe[1]);
		_exit(read(child->pipe[0], &byte, 1) ? 1 : 0);
	}
	return 0;
}

static int child_end(struct child *child)
{
	int status = 0;

	close(child->pipe[0]);
	close(child->pipe[1]);
	if (child->pid > 0 && waitpid(child->pid, &status, 0) < 0)
		return -errno;
	return status;
}

/*
 * Guards against: an index that is not charged.
 * While the child has the old windows, a replacement costs the same as a new
 * window, less the index.
 */
TEST_F(charge, replaced)
{
	struct child child;
	long cost, without;

	REGISTER_ALL(0);
	cost = charged() - self->before;
	ASSERT_EQ(0, child_start(&child));
	without = charged();
	REGISTER_ALL(SFRAME_WINDOW_REPLACE);
	without = charged() - without;
	EXPECT_LT(0, without);
	EXPECT_LE(without + NR * NODE_BYTES, cost + SLACK);
	EXPECT_EQ(0, child_end(&child));
}

static long shown(void)
{
	struct sft_stats stats;
	int ret = sft_stats(&stats);

	return ret ? ret : (long)stats.bytes;
}

/* Bytes that a kernel with KASAN adds to each charged object of @size bytes. */
static long padding(long size)
{
	char path[64];
	long padded;

	snprintf(path, sizeof(path), "/sys/kernel/slab/kmalloc-cg-%ld/slab_size",
		 size);
	padded = sft_read_number(path);
	return padded > size ? padded - size : 0;
}

/* Guards against: memory of windows that /proc/PID/sframe does not count. */
TEST_F(charge, shown)
{
	struct child child;
	long cost, pad;

	EXPECT_EQ(0, shown());
	REGISTER_ALL(0);
	cost = charged() - self->before;
	pad = padding(shown() / NR - NODE_BYTES);
	/* Each charged object also takes a pointer to its cgroup. */
	EXPECT_LE(shown(), cost + SLACK);
	EXPECT_LE(cost, shown() + NR * (16 + pad) + SLACK);

	cost = shown();
	EXPECT_EQ(0, cost % NR);
	REGISTER_ALL(SFRAME_WINDOW_REPLACE);
	EXPECT_EQ(cost, shown());
	ASSERT_EQ(0, child_start(&child));
	EXPECT_EQ(cost, shown());
	EXPECT_EQ(0, child_end(&child));
	ASSERT_EQ(0, sft_unregister(0));
	EXPECT_EQ(cost - cost / NR, shown());
	ASSERT_EQ(0, munmap(self->text, NR));
	EXPECT_EQ(0, shown());
}

/* Guards against: an index entry for a key that is in the text. */
TEST_F(charge, key_in_the_text)
{
	const unsigned long key = (uintptr_t)self->text;
	long keyed;

	ASSERT_EQ(0, sft_register_text(key, self->section, self->len,
				       self->text + 1, 1, 0));
	keyed = shown();
	ASSERT_EQ(0, sft_register_text(key, self->section, self->len,
				       self->text, 2, SFRAME_WINDOW_REPLACE));
	EXPECT_EQ(keyed - NODE_BYTES / 2, shown());
	ASSERT_EQ(0, sft_unregister(key));
	EXPECT_EQ(0, shown());
	ASSERT_EQ(0, sft_register_text(key, self->section, self->len,
				       self->text, 1, 0));
	EXPECT_EQ(keyed - NODE_BYTES / 2, shown());
}

/*
 * Guards against: an index that is still charged after UNREGISTER.
 * Only the index of this process is freed: the child has the same windows.
 */
TEST_F(charge, registered)
{
	struct child child;
	long most;
	int i;

	REGISTER_ALL(0);
	ASSERT_EQ(0, child_start(&child));
	most = charged();
	for (i = 0; i < NR; i++)
		ASSERT_EQ(0, sft_unregister(i));
	EXPECT_TRUE(falls_from(most));
	EXPECT_EQ(0, child_end(&child));
}

/* Guards against: the same after munmap() of the text. */
TEST_F(charge, unmapped)
{
	struct child child;
	long most;

	REGISTER_ALL(0);
	ASSERT_EQ(0, child_start(&child));
	most = charged();
	ASSERT_EQ(0, munmap(self->text, NR));
	EXPECT_EQ(0, sft_windows());
	EXPECT_TRUE(falls_from(most));
	EXPECT_EQ(0, child_end(&child));
}

/* Wait for RCU callbacks, or only sleep if there is no such parameter. */
static void end_grace_periods(void)
{
	if (sft_write_text(BARRIER, "1"))
		usleep(100000);
}

/* The charge once everything that was freed before is uncharged. */
static long charged_at_rest(void)
{
	long last, now = charged();

	do {
		last = now;
		end_grace_periods();
		now = charged();
	} while (now < last);
	return now;
}

/* Measure the charge of a waiting child; -errno if it cannot be forked. */
static int cost_of_child(long *cost)
{
	const long before = charged_at_rest();
	struct child child;
	int ret, ended;

	ret = child_start(&child);
	*cost = charged() - before;
	ended = child_end(&child);
	return ended ?: ret;
}

/* Guards against: a fork whose copy of the index is not charged. */
TEST_F(charge, forked)
{
	long without, with, before;

	ASSERT_EQ(0, cost_of_child(&without));
	REGISTER_ALL(0);
	before = charged();
	ASSERT_EQ(0, cost_of_child(&with));
	EXPECT_LE(without + NR * NODE_BYTES, with + SLACK);
	EXPECT_TRUE(falls_from(before + with));
}

/*
 * Guards against: a fork that fails at the memory limit. The child then has no
 * windows and is not charged for any.
 */
TEST_F(charge, fork_beyond_the_limit)
{
	char limit[32];
	long cost;

	REGISTER_ALL(0);
	snprintf(limit, sizeof(limit), "%ld", charged() + 1024 * 1024);
	set_limit(limit);
	EXPECT_EQ(0, cost_of_child(&cost));
	EXPECT_GT(1024 * 1024, cost);
	set_limit("max");
	EXPECT_EQ(0, cost_of_child(&cost));
	EXPECT_LT(1024 * 1024, cost);
	EXPECT_EQ(NR, sft_windows());
}

TEST_HARNESS_MAIN
