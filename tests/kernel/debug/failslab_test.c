// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Every allocation and every copy from or to user memory in the paths of
 * SFrame windows fails in turn, by /proc/thread-self/fail-nth: what fails
 * changes nothing, and what does not fail is whole. Leaks are looked for when
 * the guest ends.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "harness.h"

#include "failing.h"
#include "slots.h"

#define NR_WINDOWS	64
#define KEY_NEW		1000
#define TEXT_SIZE	(2 * SFT_PAGE)
#define PROC_SIZE	65536

struct op {
	int		(*run)(struct op *op);
	unsigned long	key;
	const void	*section;
	size_t		length;
	const __u8	*text;
	size_t		text_length;
	__u32		flags;
	char		*buffer;
};

static int run_op(void *arg)
{
	struct op *op = arg;

	return op->run(op);
}

static bool had_chance(struct op *op, unsigned int nth, int *ret)
{
	return sft_had_chance(run_op, op, nth, ret);
}

/* ---- Windows ----------------------------------------------------------- */

FIXTURE(fail)
{
	__u8		*section;
	size_t		length;
	__u8		*text;
	char		*before;	/* windows in /proc/self/sframe */
	char		*now;
	unsigned int	enomem;
	unsigned int	efault;
};

/* Every second slot of the text has a window, the first one can be walked. */
static const __u8 *slot(const __u8 *text, unsigned int nr)
{
	return text + nr * SFT_SLOT;
}

static size_t build(__u8 *section, const __u8 *text)
{
	const struct sft_fde fde = {
		.start = text, .size = SFT_SLOT, .rows = sft_slot_arg.rows,
		.nr_rows = sft_slot_arg.nr_rows,
	};

	return sft_build(section, &fde, 1);
}

FIXTURE_SETUP(fail)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	if (!sft_may_fail())
		SKIP(return, "kernel without fault injection");
	self->section = sft_map(SFT_PAGE, SFT_RW);
	self->text = sft_map_code(sft_slot_arg.code, SFT_SLOT, TEXT_SIZE);
	self->before = calloc(1, PROC_SIZE);
	self->now = calloc(1, PROC_SIZE);
	ASSERT_NE(NULL, self->section);
	ASSERT_NE(NULL, self->text);
	self->length = build(self->section, self->text);
}

FIXTURE_TEARDOWN(fail)
{
	munmap(self->text, TEXT_SIZE);
	munmap(self->section, SFT_PAGE);
	free(self->before);
	free(self->now);
}

/* The lines of the windows; what follows are counters. */
static int read_windows(char *buffer)
{
	int fd = open("/proc/self/sframe", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	while ((got = read(fd, buffer + length, PROC_SIZE - 1 - length)) > 0)
		length += got;
	if (got < 0)
		got = -errno;
	close(fd);
	buffer[length] = '\0';
	if (!got && strstr(buffer, "windows "))
		*strstr(buffer, "windows ") = '\0';
	return got;
}

static struct op op_for(const FIXTURE_DATA(fail) *self, unsigned int nr)
{
	return (struct op) {
		.section = self->section, .length = self->length,
		.text = slot(self->text, nr), .text_length = SFT_SLOT,
	};
}

static int do_register(struct op *op)
{
	return sft_register_text(op->key, op->section, op->length, op->text,
				 op->text_length, op->flags);
}

static int do_unregister(struct op *op)
{
	return sft_unregister(op->key);
}

static void register_windows(struct __test_metadata *_metadata,
			     FIXTURE_DATA(fail) *self)
{
	struct op op;
	unsigned int i;

	for (i = 0; i < NR_WINDOWS; i++) {
		op = op_for(self, 2 * i);
		op.key = i + 1;
		ASSERT_EQ(0, do_register(&op));
	}
	ASSERT_EQ(0, read_windows(self->before));
}

/* Nothing lost, nothing added, and the walk through the first is exact. */
static void check_windows(struct __test_metadata *_metadata,
			  FIXTURE_DATA(fail) *self)
{
	const struct sft_call call = { self->text, sft_leaf };
	struct sft_chain chain;

	ASSERT_EQ(0, read_windows(self->now));
	ASSERT_STREQ(self->before, self->now);
	ASSERT_EQ(0, sft_chain_at(self->text, false, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)self->text, SFT_CALLERS);
}

static void count(struct __test_metadata *_metadata, FIXTURE_DATA(fail) *self,
		  int ret)
{
	if (ret == -ENOMEM)
		self->enomem++;
	else if (ret == -EFAULT)
		self->efault++;
	else
		ASSERT_EQ(0, ret);
}

/*
 * Take each chance of @op. It may fail and change nothing, or not; then @undo
 * makes it as it was. Without a chance taken it has to work.
 */
static void sweep(struct __test_metadata *_metadata, FIXTURE_DATA(fail) *self,
		  struct op *op, int (*undo)(struct op *op))
{
	unsigned int nth;
	bool had = true;
	int ret;

	for (nth = 1; had; nth++) {
		ASSERT_GT(SFT_MOST_CHANCES, nth);
		had = had_chance(op, nth, &ret);
		if (had)
			count(_metadata, self, ret);
		else
			ASSERT_EQ(0, ret);
		if (!ret && undo)
			ASSERT_EQ(0, undo(op));
		check_windows(_metadata, self);
	}
	TH_LOG("%u chances, so far %u ENOMEM, %u EFAULT", nth - 2,
	       self->enomem, self->efault);
}

enum child_status {
	CHILD_DONE,		/* there was no such chance */
	CHILD_ENOMEM,
	CHILD_EFAULT,
	CHILD_REGISTERED,	/* there was another way */
	CHILD_WRONG,
	NR_CHILD_STATUS,
};

/* The child starts without anything. */
static enum child_status register_in_child(struct op *op, unsigned int nth)
{
	bool had;
	int ret;

	had = had_chance(op, nth, &ret);
	if (!ret)
		return sft_windows() != 1 ? CHILD_WRONG :
		       had ? CHILD_REGISTERED : CHILD_DONE;
	if (!had || (ret != -ENOMEM && ret != -EFAULT))
		return CHILD_WRONG;
	if (sft_windows() || do_register(op) || sft_windows() != 1)
		return CHILD_WRONG;
	return ret == -ENOMEM ? CHILD_ENOMEM : CHILD_EFAULT;
}

TEST_F(fail, first_register)
{
	struct op op = op_for(self, 0);
	unsigned int nth, seen[NR_CHILD_STATUS] = { };
	int status;
	pid_t pid;

	op.key = 1;
	op.run = do_register;
	for (nth = 1; seen[CHILD_DONE] < SFT_FAIL_ROUNDS; nth++) {
		ASSERT_GT(SFT_MOST_CHANCES, nth);
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(register_in_child(&op, nth));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFEXITED(status));
		ASSERT_GT(CHILD_WRONG, WEXITSTATUS(status));
		seen[WEXITSTATUS(status)]++;
		if (WEXITSTATUS(status) == CHILD_DONE)
			nth = 0;
	}
	TH_LOG("%u ENOMEM, %u EFAULT", seen[CHILD_ENOMEM], seen[CHILD_EFAULT]);
	/* The descriptor, the registry; the options, the header. */
	EXPECT_LE(2, seen[CHILD_ENOMEM]);
	EXPECT_LE(2, seen[CHILD_EFAULT]);
}

TEST_F(fail, register)
{
	struct op op;
	unsigned int i;

	register_windows(_metadata, self);
	for (i = 1; i < 2 * NR_WINDOWS; i += 10) {
		op = op_for(self, i);
		op.key = KEY_NEW;
		op.run = do_register;
		sweep(_metadata, self, &op, do_unregister);
	}
	EXPECT_LE(1, self->enomem);
	EXPECT_LE(1, self->efault);
}

static int replace_back(struct op *op)
{
	return sft_unregister(op->key) ?:
	       sft_register_text(op->key, op->section, op->length, op->text,
				 SFT_SLOT, 0);
}

TEST_F(fail, replace)
{
	struct op op;
	unsigned int i;

	register_windows(_metadata, self);
	for (i = 0; i < NR_WINDOWS; i += 8) {
		op = op_for(self, 2 * i);
		op.key = i + 1;
		op.run = do_register;
		op.flags = SFRAME_WINDOW_REPLACE;
		sweep(_metadata, self, &op, NULL);
		op.text_length = 2 * SFT_SLOT;
		sweep(_metadata, self, &op, replace_back);
	}
	EXPECT_LE(1, self->enomem);
	EXPECT_LE(1, self->efault);
}

/* Who wants to free a section cannot be told that there is no memory. */
TEST_F(fail, unregister)
{
	struct op op;
	unsigned int i;

	register_windows(_metadata, self);
	for (i = 0; i < NR_WINDOWS; i += 3) {
		op = op_for(self, 2 * i);
		op.key = i + 1;
		op.run = do_unregister;
		sweep(_metadata, self, &op, do_register);
	}
	EXPECT_EQ(0, self->enomem);
	EXPECT_EQ(0, self->efault);
}

static int do_munmap(struct op *op)
{
	return munmap((void *)op->text, op->text_length) ? -errno : 0;
}

/* All three pages, so that the next munmap has to split the mapping again. */
static int map_back(struct op *op)
{
	void *text = mmap((void *)(op->text - SFT_PAGE), 3 * SFT_PAGE, SFT_RX,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (text == MAP_FAILED)
		return -errno;
	return sft_register_text(KEY_NEW, op->section, op->length, op->text,
				 SFT_SLOT, 0) ?:
	       sft_register_text(KEY_NEW + 1, op->section, op->length,
				 op->text + op->text_length - 1, 2, 0);
}

/* The second page: what the munmap cannot do, it does not half. */
TEST_F(fail, munmap)
{
	__u8 *text = sft_map_code(sft_slot_arg.code, SFT_SLOT, 3 * SFT_PAGE);
	struct op op = op_for(self, 0);

	ASSERT_NE(NULL, text);
	register_windows(_metadata, self);
	op.text = text + SFT_PAGE;
	op.text_length = SFT_PAGE;
	op.run = do_munmap;
	ASSERT_EQ(0, map_back(&op));
	ASSERT_EQ(0, read_windows(self->before));
	sweep(_metadata, self, &op, map_back);
	EXPECT_LE(1, self->enomem);
	munmap(text, 3 * SFT_PAGE);
}

static int do_fork(struct op *op)
{
	pid_t pid = fork();
	int nr;

	if (pid < 0)
		return -errno;
	if (!pid) {
		nr = sft_windows();
		_exit(nr && nr != NR_WINDOWS);
	}
	op->key = pid;
	return 0;
}

static int reap(struct op *op)
{
	int status;

	if (waitpid(op->key, &status, 0) < 0)
		return -errno;
	return status ? -EPROTO : 0;
}

/* A child has all windows, or none if there was no memory for them. */
TEST_F_TIMEOUT(fail, fork, 600)
{
	struct op op = { .run = do_fork };
	int i;

	register_windows(_metadata, self);
	for (i = 0; i < SFT_FAIL_ROUNDS; i++)
		sweep(_metadata, self, &op, reap);
	/* Descriptors, registry and trees are only a few of these. */
	EXPECT_LE(10, self->enomem);
}

static int do_read(struct op *op)
{
	return read_windows(op->buffer);
}

TEST_F(fail, proc)
{
	struct op op = { .run = do_read, .buffer = self->now };

	register_windows(_metadata, self);
	sweep(_metadata, self, &op, NULL);
	EXPECT_LE(1, self->enomem);
	EXPECT_LE(1, self->efault);
}

TEST_HARNESS_MAIN
