// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the registry of SFrame windows. */
#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sframe.h>

#include "sframe_kunit.h"

static struct sframe_registry *sframe_test_registry(struct kunit *test)
{
	struct sframe_registry *reg = sframe_registry_of(current->mm);

	KUNIT_ASSERT_NOT_NULL(test, reg);
	return reg;
}

/* The key of the window at @off in @mm, 0 if there is none. */
static unsigned long sframe_test_key_in(struct kunit *test,
					struct mm_struct *mm, unsigned long off)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_window *window;

	guard(rcu)();
	window = sframe_lookup(sframe_registry_of(mm), ctx->text + off).window;
	return window ? window->key : 0;
}

static unsigned long sframe_test_key_at(struct kunit *test, unsigned long off)
{
	return sframe_test_key_in(test, current->mm, off);
}

static struct sframe_window *sframe_test_window(struct kunit *test,
						unsigned long off)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_window *window;

	guard(rcu)();
	window = sframe_lookup(sframe_registry_of(current->mm),
			       ctx->text + off).window;
	KUNIT_EXPECT_NOT_NULL(test, window);
	return window;
}

static unsigned int sframe_test_windows(void)
{
	struct sframe_registry *reg = sframe_registry_of(current->mm);

	return reg ? reg->nr : 0;
}

static void sframe_registry_lookup(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, 0x200, 0x201), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0xff), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x1ff), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x200), 2);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x201), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, -1UL), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 2);
}

/* Keys are names, not addresses: 0 and ULONG_MAX are valid. */
static void sframe_registry_keys(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 0, 0x100, 0x200), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, ULONG_MAX, 0x300, 0x400),
			0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), ULONG_MAX);

	/* Same name, other text. */
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 0, 0x500, 0x600),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, ULONG_MAX, 0x500, 0x600),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), -ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_unregister(ULONG_MAX), 0);
	KUNIT_EXPECT_EQ(test, sframe_unregister(ULONG_MAX), -ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_unregister(0), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 0);
	KUNIT_EXPECT_FALSE(test, sframe_mm_has_windows(current->mm));
}

static void sframe_registry_without(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, sframe_registry_of(current->mm));
	KUNIT_EXPECT_FALSE(test, sframe_mm_has_windows(current->mm));
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), -ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 1, 0x100, 0x200),
			-ENOENT);
}

/**
 * struct sframe_test_range - text of a window next to other windows
 * @name:	of the case
 * @start:	its start
 * @end:	its end
 * @expect:	what registration returns
 */
struct sframe_test_range {
	const char	*name;
	unsigned long	start;
	unsigned long	end;
	int		expect;
};

/* There is a window at 0x100 to 0x200. */
static const struct sframe_test_range sframe_inserts[] = {
	{ "same", 0x100, 0x200, -EEXIST },
	{ "across the start", 0xff, 0x101, -EEXIST },
	{ "across the end", 0x1ff, 0x201, -EEXIST },
	{ "first byte", 0x100, 0x101, -EEXIST },
	{ "last byte", 0x1ff, 0x200, -EEXIST },
	{ "inside", 0x180, 0x181, -EEXIST },
	{ "around", 0, 0x1000, -EEXIST },
	{ "just before", 0, 0x100, 0 },
	{ "just behind", 0x200, 0x1000, 0 },
	{ "one byte", 0xff, 0x100, 0 },
};

KUNIT_ARRAY_PARAM_DESC(sframe_insert, sframe_inserts, name);

static void sframe_registry_insert(struct kunit *test)
{
	const struct sframe_test_range *range = test->param_value;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, range->start,
						 range->end), range->expect);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), range->expect ? 1 : 2);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x1ff), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, range->start) == 2,
			!range->expect);
	KUNIT_EXPECT_EQ(test, sframe_test_registry(test)->seq,
			sframe_test_windows());
}

/* Replace the window at 0x100 to 0x200; 0x300 to 0x400 is another window. */
static const struct sframe_test_range sframe_replaces[] = {
	{ "same", 0x100, 0x200, 0 },
	{ "larger", 0xff, 0x201, 0 },
	{ "up to the other", 0, 0x300, 0 },
	{ "starts later", 0x101, 0x200, -EINVAL },
	{ "ends earlier", 0x100, 0x1ff, -EINVAL },
	{ "elsewhere", 0x400, 0x500, -EINVAL },
	{ "in place of the other", 0x300, 0x400, -EINVAL },
	{ "into the other", 0x100, 0x301, -EEXIST },
	{ "around the other", 0, 0x1000, -EEXIST },
};

KUNIT_ARRAY_PARAM_DESC(sframe_replace, sframe_replaces, name);

static void sframe_registry_replace(struct kunit *test)
{
	const struct sframe_test_range *range = test->param_value;
	struct sframe_window *old, *new;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400), 0);
	old = sframe_test_window(test, 0x100);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 1, range->start,
						  range->end), range->expect);
	new = sframe_test_window(test, 0x100);
	KUNIT_EXPECT_EQ(test, new == old, range->expect != 0);
	KUNIT_EXPECT_EQ(test, sframe_test_registry(test)->seq,
			2 + !range->expect);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 2);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x1ff), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), 2);
}

static void sframe_registry_replace_unknown(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 2, 0x100, 0x200),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
}

static void sframe_registry_limit(struct kunit *test)
{
	struct sframe_registry *reg;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	reg = sframe_test_registry(test);
	/* Pretend that the limit is reached. */
	reg->nr = sframe_window_limit();
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400),
			-ENOSPC);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 1, 0x100, 0x200), 0);

	reg->nr = sframe_window_limit() - 1;
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400), 0);
	KUNIT_EXPECT_EQ(test, reg->nr, sframe_window_limit());
	reg->nr = 2;
}

/* Enough windows for several levels of the tree; remove every third one. */
static void sframe_registry_many(struct kunit *test)
{
	unsigned int i, nr = 1000;

	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, sframe_test_insert(test, i + 1, 4 * i,
							 4 * i + 3), 0);
	for (i = 0; i < nr; i += 3)
		KUNIT_EXPECT_EQ(test, sframe_unregister(i + 1), 0);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 4 * i + 2),
				i % 3 ? i + 1 : 0);
		KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 4 * i + 3), 0);
	}
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), nr - DIV_ROUND_UP(nr, 3));
}

static void sframe_registry_text(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long data = ctx->data - ctx->text;

	/* The text ends with its mapping. */
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 1, SFRAME_TEST_SIZE - 1,
						 SFRAME_TEST_SIZE), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0,
						 SFRAME_TEST_SIZE + 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, -1UL, 1), -EINVAL);
	/* Text need not be executable yet. */
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 4, data, data + 1), 0);

	/* Next to a hole on each side, and across it. */
	KUNIT_ASSERT_EQ(test, vm_munmap(ctx->text + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0, PAGE_SIZE + 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 2 * PAGE_SIZE - 1,
						 2 * PAGE_SIZE + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0, 3 * PAGE_SIZE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 3, 2 * PAGE_SIZE,
						 3 * PAGE_SIZE), 0);
}

/* Unmapping any byte of a window removes the whole window. */
static void sframe_registry_munmap(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long page = PAGE_SIZE;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0, page - 1), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, page - 1, page + 1),
			0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 3, page + 8, page + 9),
			0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 4, 2 * page - 1,
						 2 * page + 1), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 5, 2 * page + 1,
						 3 * page), 0);
	KUNIT_ASSERT_EQ(test, vm_munmap(ctx->text + page, page), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 2);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, page - 1), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, page + 8), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 2 * page), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 3 * page - 1), 5);
	/* Five were added, three removed. */
	KUNIT_EXPECT_EQ(test, sframe_test_registry(test)->seq, 8);
	KUNIT_EXPECT_EQ(test, sframe_unregister(2), -ENOENT);
}

static void sframe_expect_range(struct kunit *test, unsigned long off,
				unsigned long first, unsigned long last)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_range range;

	guard(rcu)();
	range = sframe_lookup(sframe_registry_of(current->mm), ctx->text + off);
	KUNIT_EXPECT_EQ(test, range.first, ctx->text + first);
	KUNIT_EXPECT_EQ(test, range.last, ctx->text + last);
}

/* A lookup returns the range of addresses with the same answer. */
static void sframe_registry_range(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long lowest = -ctx->text, highest = -1UL - ctx->text;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	sframe_expect_range(test, 0x100, 0x100, 0x1ff);
	sframe_expect_range(test, 0x1ff, 0x100, 0x1ff);
	sframe_expect_range(test, 0xff, lowest, 0xff);
	sframe_expect_range(test, 0x200, 0x200, highest);

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x301), 0);
	sframe_expect_range(test, 0x200, 0x200, 0x2ff);
	sframe_expect_range(test, 0x2ff, 0x200, 0x2ff);
	sframe_expect_range(test, 0x300, 0x300, 0x300);
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), 0);
	sframe_expect_range(test, 0x150, lowest, 0x2ff);
}

/* Only changes are counted. */
static void sframe_registry_changed(struct kunit *test)
{
	struct sframe_registry *reg;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	reg = sframe_test_registry(test);
	KUNIT_EXPECT_EQ(test, reg->seq, 1);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 1, 0x300, 0x400),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, sframe_unregister(2), -ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 2, 0x100, 0x200),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, reg->seq, 1);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 1, 0x100, 0x200), 0);
	KUNIT_EXPECT_EQ(test, reg->seq, 2);
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), 0);
	KUNIT_EXPECT_EQ(test, reg->seq, 3);
}

/* ---- Fork -------------------------------------------------------------- */

/* Copy the windows of this mm to a new mm with all of its mappings or none. */
static struct mm_struct *sframe_test_fork(struct kunit *test, bool all_mapped)
{
	struct mm_struct *mm = mm_alloc();

	KUNIT_ASSERT_NOT_NULL(test, mm);
	mmap_write_lock(current->mm);
	mmap_write_lock_nested(mm, SINGLE_DEPTH_NESTING);
	if (all_mapped)
		mm->map_count = current->mm->map_count;
	sframe_mm_dup(mm, current->mm);
	mm->map_count = 0;
	mmap_write_unlock(mm);
	mmap_write_unlock(current->mm);
	return mm;
}

static void sframe_fork_shares_windows(struct kunit *test)
{
	struct sframe_registry *copy;
	struct sframe_window *window;
	struct mm_struct *mm;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400), 0);
	sframe_test_registry(test)->counters.refused[SFRAME_REASON_NO_FDE] = 7;
	window = sframe_test_window(test, 0x100);
	mm = sframe_test_fork(test, true);
	copy = sframe_registry_of(mm);
	KUNIT_EXPECT_EQ(test, copy->nr, 2);
	KUNIT_EXPECT_EQ(test, copy->counters.refused[SFRAME_REASON_NO_FDE], 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 2);

	/* Changes of one do not affect the other. */
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_in(test, mm, 0x1ff), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_in(test, mm, 0x300), 2);
	KUNIT_EXPECT_EQ(test, sframe_registry_of(mm)->seq, 0);
	mmput(mm);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), 2);
	window = sframe_test_window(test, 0x300);
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 1);
}

static void sframe_fork_leaves_out(struct kunit *test)
{
	struct sframe_window *window;
	struct mm_struct *mm;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	window = sframe_test_window(test, 0x100);
	mm = sframe_test_fork(test, false);
	KUNIT_EXPECT_FALSE(test, sframe_mm_has_windows(mm));
	KUNIT_EXPECT_EQ(test, sframe_test_key_in(test, mm, 0x100), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 1);
	mmput(mm);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
}

/* A child gets no registry if the last window of its parent is gone. */
static void sframe_fork_without_windows(struct kunit *test)
{
	struct mm_struct *mm;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_ASSERT_EQ(test, sframe_unregister(1), 0);
	mm = sframe_test_fork(test, true);
	KUNIT_EXPECT_NULL(test, sframe_registry_of(mm));
	mmput(mm);
}

/* ---- Killed while waiting for the mmap lock ---------------------------- */

struct sframe_test_locker {
	struct mm_struct	*mm;
	struct completion	locked;
	struct completion	unlock;
};

static int sframe_test_lock(void *arg)
{
	struct sframe_test_locker *locker = arg;

	mmap_write_lock(locker->mm);
	complete(&locker->locked);
	wait_for_completion(&locker->unlock);
	mmap_write_unlock(locker->mm);
	return 0;
}

static int sframe_test_insert_killed(struct kunit *test)
{
	int ret;

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
	ret = sframe_test_insert(test, 2, 0x300, 0x400);
	flush_signals(current);
	disallow_signal(SIGKILL);
	return ret;
}

static void sframe_registry_killed(struct kunit *test)
{
	struct sframe_test_locker locker = { .mm = current->mm };
	struct task_struct *task;

	init_completion(&locker.locked);
	init_completion(&locker.unlock);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	task = kthread_create(sframe_test_lock, &locker, "sframe_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&locker.locked);

	KUNIT_EXPECT_EQ(test, sframe_test_insert_killed(test), -EINTR);
	complete(&locker.unlock);
	kthread_stop_put(task);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400), 0);
}

static struct kunit_case sframe_registry_cases[] = {
	KUNIT_CASE(sframe_registry_lookup),
	KUNIT_CASE(sframe_registry_keys),
	KUNIT_CASE(sframe_registry_without),
	KUNIT_CASE_PARAM(sframe_registry_insert, sframe_insert_gen_params),
	KUNIT_CASE_PARAM(sframe_registry_replace, sframe_replace_gen_params),
	KUNIT_CASE(sframe_registry_replace_unknown),
	KUNIT_CASE(sframe_registry_limit),
	KUNIT_CASE(sframe_registry_many),
	KUNIT_CASE(sframe_registry_text),
	KUNIT_CASE(sframe_registry_munmap),
	KUNIT_CASE(sframe_registry_range),
	KUNIT_CASE(sframe_registry_changed),
	KUNIT_CASE(sframe_registry_killed),
	KUNIT_CASE(sframe_fork_shares_windows),
	KUNIT_CASE(sframe_fork_leaves_out),
	KUNIT_CASE(sframe_fork_without_windows),
	{}
};

static struct kunit_suite sframe_registry_suite = {
	.name = "sframe_registry",
	.init = sframe_test_init,
	.test_cases = sframe_registry_cases,
};

kunit_test_suite(sframe_registry_suite);
