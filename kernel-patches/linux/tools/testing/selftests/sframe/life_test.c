// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What fork, exec, threads and changes of mappings do to windows.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "slots.h"

#define KEY		1
#define NR_PAGES	8
#define TEXT_SIZE	(NR_PAGES * SFT_PAGE)
#define CHILD_STACK	(16 * SFT_PAGE)

/* Header, one index entry, attributes and three rows. */
#define SECTION_LEN	(28 + 16 + 5 + 3 * 3)

FIXTURE(life)
{
	__u8		*text;
	__u8		*section;
	struct sft_call	call;
};

static __u8 *make_text(void)
{
	__u8 code[TEXT_SIZE];
	unsigned int i;

	for (i = 0; i < TEXT_SIZE; i += SFT_SLOT)
		memcpy(code + i, sft_slot_arg.code, SFT_SLOT);
	return sft_map_code(code, TEXT_SIZE, TEXT_SIZE);
}

static int register_slots(unsigned long key, __u8 *section,
			  const __u8 *text, size_t size)
{
	const struct sft_fde fde = {
		.start = text, .size = size, .rows = sft_slot_arg.rows,
		.nr_rows = 3, .info = SFRAME_FDE_PCMASK, .rep_size = SFT_SLOT,
	};

	return sft_register(key, section, sft_build(section, &fde, 1), NULL);
}

/* A window that covers the middle six of eight pages. */
static void make_window(struct __test_metadata *_metadata, __u8 **text,
			__u8 **section, struct sft_call *call)
{
	*text = make_text();
	ASSERT_NE(NULL, *text);
	*section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, *section);
	call->entry = *text + SFT_PAGE;
	call->target = sft_leaf;
	ASSERT_EQ(0, register_slots(KEY, *section, *text + SFT_PAGE,
				    TEXT_SIZE - 2 * SFT_PAGE));
}

FIXTURE_SETUP(life)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	make_window(_metadata, &self->text, &self->section, &self->call);
}

FIXTURE_TEARDOWN(life)
{
	munmap(self->text, TEXT_SIZE);
	munmap(self->section, SFT_PAGE);
}

/* Is the stack at the call of the slot the true one, or the known loss? */
static bool walk_is(const struct sft_call *call, bool defer, bool complete)
{
	const __u64 ip = (uintptr_t)call->entry + 5;
	const __u64 with[] = { ip, SFT_CALLERS };
	const __u64 without[] = { ip, SFT_LOST };
	struct sft_chain chain;

	if (sft_chain_at((void *)ip, defer, call, &chain))
		return false;
	if (complete)
		return sft_chain_check(&chain, with, ARRAY_SIZE(with));
	return sft_chain_check(&chain, without, ARRAY_SIZE(without));
}

static bool walks(const struct sft_call *call)
{
	return walk_is(call, false, true) && walk_is(call, true, true);
}

static bool walk_loses(const struct sft_call *call)
{
	return walk_is(call, false, false) && walk_is(call, true, false);
}

/* Run @fn in a forked child; its result, or -1. */
static int in_child(int (*fn)(const struct sft_call *),
		    const struct sft_call *call)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(fn(call));
	if (child < 0 || waitpid(child, &status, 0) != child ||
	    !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int child_has_window(const struct sft_call *call)
{
	return !(sft_windows() == 1 && walks(call));
}

static int child_has_none(const struct sft_call *call)
{
	return !(!sft_windows() && walk_loses(call) &&
		 sft_unregister(KEY) == -ENOENT);
}

static int child_unregisters(const struct sft_call *call)
{
	return !(!sft_unregister(KEY) && !sft_windows() && walk_loses(call));
}

static int grandchild_has_window(const struct sft_call *call)
{
	return in_child(child_has_window, call);
}

/* Earlier series left the child of fork without any. */
TEST_F(life, fork_copies_windows)
{
	EXPECT_EQ(0, in_child(child_has_window, &self->call));
	EXPECT_EQ(0, in_child(grandchild_has_window, &self->call));
	EXPECT_TRUE(walks(&self->call));
}

TEST_F(life, child_and_parent_do_not_affect_each_other)
{
	EXPECT_EQ(0, in_child(child_unregisters, &self->call));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->call));
	EXPECT_EQ(0, sft_unregister(KEY));
	EXPECT_EQ(0, in_child(child_has_none, &self->call));
}

/* The child takes the parent's windows with it; the parent drops its own. */
TEST_F(life, parent_unregisters_after_fork)
{
	int go[2];
	pid_t child;
	int status;
	char byte;

	ASSERT_EQ(0, pipe(go));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (read(go[0], &byte, 1) != 1)
			_exit(2);
		_exit(child_has_window(&self->call));
	}
	EXPECT_EQ(0, sft_unregister(KEY));
	EXPECT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

static int child_registers_again(const struct sft_call *call)
{
	static __u8 section[SFT_PAGE];
	__u8 *text = mmap((void *)call->entry, SFT_PAGE, SFT_RX,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (text == MAP_FAILED || sft_windows())
		return 1;
	return register_slots(KEY, section, text, SFT_PAGE) ? 2 : 0;
}

/* Text that the child does not have takes its window along, and its key. */
TEST_F(life, dontfork_text_leaves_the_window_behind)
{
	ASSERT_EQ(0, madvise(self->text + 3 * SFT_PAGE, SFT_PAGE,
			     MADV_DONTFORK));
	EXPECT_EQ(0, in_child(child_registers_again, &self->call));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->call));

	ASSERT_EQ(0, madvise(self->text, TEXT_SIZE, MADV_DOFORK));
	EXPECT_EQ(0, in_child(child_has_window, &self->call));
}

/* Only its own: other windows are copied. */
TEST_F(life, dontfork_elsewhere_changes_nothing)
{
	ASSERT_EQ(0, madvise(self->text, SFT_PAGE, MADV_DONTFORK));
	ASSERT_EQ(0, madvise(self->text + 7 * SFT_PAGE, SFT_PAGE,
			     MADV_DONTFORK));
	EXPECT_EQ(0, in_child(child_has_window, &self->call));
}

/* A section that the child does not have: the walk ends, nothing else. */
static int child_faults(const struct sft_call *call)
{
	struct sft_chain chain;
	struct sframe_stats stats;
	__u64 ip = (uintptr_t)call->entry + 5;

	if (sft_chain_at((void *)ip, false, call, &chain) ||
	    !sft_chain_check(&chain, &ip, 1))
		return 1;
	if (sft_stats(&stats) || stats.windows != 1)
		return 2;
	return stats.last_reason != SFRAME_REASON_SECTION_FAULT;
}

TEST_F(life, dontfork_section_keeps_the_window)
{
	__u8 *low = mmap((void *)0x10000000, SFT_PAGE, SFT_RW,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0);

	ASSERT_NE(MAP_FAILED, low);
	ASSERT_EQ(0, sft_unregister(KEY));
	ASSERT_EQ(0, register_slots(KEY, low, self->text + SFT_PAGE, SFT_PAGE));
	ASSERT_EQ(0, madvise(low, SFT_PAGE, MADV_DONTFORK));
	EXPECT_EQ(0, in_child(child_faults, &self->call));
	EXPECT_TRUE(walks(&self->call));
}

/*
 * fork with many windows: the child has each of them, and what it changes is
 * its own.
 */
static int child_has_all(const struct sft_call *call)
{
	unsigned int i;

	if (sft_windows() != 1 + 512)
		return 1;
	for (i = 0; i < 512; i++)
		if (sft_unregister(1000 + i))
			return 2;
	return child_has_window(call) ? 3 : 0;
}

TEST_F(life, fork_with_many_windows)
{
	unsigned int i;

	for (i = 0; i < 512; i++)
		ASSERT_EQ(0, sft_register_text(1000 + i, self->section,
					       SECTION_LEN, self->text + 8 * i,
					       8, 0));
	EXPECT_EQ(0, in_child(child_has_all, &self->call));
	EXPECT_EQ(1 + 512, sft_windows());
}

#define NR_MANY		65000

static int child_of_many(const struct sft_call *call)
{
	return sft_windows() != 1 + NR_MANY || sft_unregister(1000) ||
	       sft_unregister(1000 + NR_MANY - 1) ||
	       sft_windows() != NR_MANY - 1;
}

/* Trees so high are freed in another way, when the child exits. */
TEST_F_TIMEOUT(life, fork_with_as_many_windows_as_there_can_be, 240)
{
	__u8 *text = sft_map((NR_MANY + SFT_PAGE) & -SFT_PAGE, SFT_RX);
	unsigned int i;

	ASSERT_NE(NULL, text);
	if (sft_query(PR_SFRAME_QUERY_LIMIT) <= NR_MANY)
		SKIP(return, "vm.max_sframe_windows is too low");
	for (i = 0; i < NR_MANY; i++)
		ASSERT_EQ(0, sft_register_text(1000 + i, self->section,
					       SECTION_LEN, text + i, 1, 0));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, in_child(child_of_many, &self->call));
	EXPECT_EQ(1 + NR_MANY, sft_windows());
	EXPECT_TRUE(walks(&self->call));
	/* One munmap drops them all. */
	EXPECT_EQ(0, munmap(text, (NR_MANY + SFT_PAGE) & -SFT_PAGE));
	EXPECT_EQ(1, sft_windows());
}

static int vfork_child(void *arg)
{
	_exit(sft_windows() == 1 ? sft_unregister(KEY) : 1);
}

/* The child shares the memory, and its windows, until it execs or exits. */
TEST_F(life, vfork_shares_windows)
{
	char *stack = sft_map(CHILD_STACK, SFT_RW);
	int status;
	pid_t child;

	ASSERT_NE(NULL, stack);
	child = clone(vfork_child, stack + CHILD_STACK,
		      CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	ASSERT_LT(0, child);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, sft_windows());
	EXPECT_TRUE(walk_loses(&self->call));
}

/* Its exit leaves them to the parent. */
static int quiet_child(void *arg)
{
	_exit(sft_windows() != 1);
}

TEST_F(life, exit_of_a_vfork_child_keeps_windows)
{
	char *stack = sft_map(CHILD_STACK, SFT_RW);
	int status;
	pid_t child;

	ASSERT_NE(NULL, stack);
	child = clone(quiet_child, stack + CHILD_STACK,
		      CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	ASSERT_LT(0, child);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(walks(&self->call));
}

/* This very program, see the constructor below. */
#define EXEC_MARK	"SFRAME_TEST_COUNT_WINDOWS"

__attribute__((constructor))
static void count_windows_after_exec(void)
{
	if (getenv(EXEC_MARK))
		_exit(100 + sft_windows());
}

static int child_execs(const struct sft_call *call)
{
	setenv(EXEC_MARK, "1", 1);
	execl("/proc/self/exe", "life_test", NULL);
	return 1;
}

static int exec_child(void *arg)
{
	_exit(child_execs(NULL));
}

TEST_F(life, exec_drops_windows)
{
	char *stack = sft_map(CHILD_STACK, SFT_RW);
	int status;
	pid_t child;

	EXPECT_EQ(100, in_child(child_execs, &self->call));
	EXPECT_EQ(1, sft_windows());

	/* After vfork, exec leaves the parent's alone. */
	ASSERT_NE(NULL, stack);
	child = clone(exec_child, stack + CHILD_STACK,
		      CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	ASSERT_LT(0, child);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(100, WEXITSTATUS(status));
	unsetenv(EXEC_MARK);
	EXPECT_TRUE(walks(&self->call));
}

static void *thread_walks(void *arg)
{
	return (void *)(long)!walks(arg);
}

static void *thread_swaps(void *arg)
{
	if (sft_unregister(KEY) || !walk_loses(arg))
		return (void *)1;
	return NULL;
}

TEST_F(life, threads_share_windows)
{
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_walks, &self->call));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_swaps, &self->call));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	EXPECT_EQ(-ENOENT, sft_unregister(KEY));
	EXPECT_TRUE(walk_loses(&self->call));
}

/* Two threads register for the first time at once: one registry. */
static void *thread_registers(void *arg)
{
	const struct sft_call *call = arg;
	static unsigned long nr_threads;
	unsigned long nr = __atomic_fetch_add(&nr_threads, 1, __ATOMIC_RELAXED);
	__u8 *section = sft_map(SFT_PAGE, SFT_RW);
	const __u8 *text = call->entry;

	return (void *)(long)register_slots(nr, section, text + nr * 64, 64);
}

TEST(first_registrations_at_once)
{
	struct sft_call call;
	pthread_t threads[8];
	unsigned int i;
	void *ret;

	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	call.entry = make_text();
	ASSERT_NE(NULL, call.entry);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL,
					    thread_registers, &call));
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &ret));
		EXPECT_EQ(NULL, ret);
	}
	EXPECT_EQ(ARRAY_SIZE(threads), sft_windows());
}

FIXTURE(unmap)
{
	__u8		*text;
	__u8		*section;
	struct sft_call	call;
};

/* Page of the text, and whether its end drops the window. */
FIXTURE_VARIANT(unmap)
{
	unsigned int	page, nr;
	bool		drops;
};

FIXTURE_VARIANT_ADD(unmap, before) { 0, 1, false };
FIXTURE_VARIANT_ADD(unmap, behind) { 7, 1, false };
FIXTURE_VARIANT_ADD(unmap, first_page) { 1, 1, true };
FIXTURE_VARIANT_ADD(unmap, middle_page) { 3, 1, true };
FIXTURE_VARIANT_ADD(unmap, last_page) { 6, 1, true };
FIXTURE_VARIANT_ADD(unmap, all) { 1, 6, true };
FIXTURE_VARIANT_ADD(unmap, more_than_all) { 0, 8, true };

FIXTURE_SETUP(unmap)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	make_window(_metadata, &self->text, &self->section, &self->call);
}

FIXTURE_TEARDOWN(unmap)
{
	munmap(self->text, TEXT_SIZE);
	munmap(self->section, SFT_PAGE);
}

static void check_unmapped(struct __test_metadata *_metadata, bool drops)
{
	EXPECT_EQ(drops ? 0 : 1, sft_windows());
	EXPECT_EQ(drops ? -ENOENT : 0, sft_unregister(KEY));
}

/* Earlier series had no hook: a stale window kept others from its range. */
TEST_F(unmap, munmap)
{
	__u8 *gone = self->text + variant->page * SFT_PAGE;

	ASSERT_EQ(0, munmap(gone, variant->nr * SFT_PAGE));
	check_unmapped(_metadata, variant->drops);
}

TEST_F(unmap, range_and_key_are_free_again)
{
	__u8 *gone = self->text + variant->page * SFT_PAGE;
	size_t size = variant->nr * SFT_PAGE;

	ASSERT_EQ(0, munmap(gone, size));
	ASSERT_EQ(gone, mmap(gone, size, SFT_RX,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(variant->drops ? 0 : -EBUSY,
		  register_slots(KEY, self->section, self->text + SFT_PAGE,
				 TEXT_SIZE - 2 * SFT_PAGE));
}

TEST_F(unmap, map_fixed)
{
	__u8 *gone = self->text + variant->page * SFT_PAGE;

	ASSERT_EQ(gone, mmap(gone, variant->nr * SFT_PAGE, SFT_RX,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	check_unmapped(_metadata, variant->drops);
}

TEST_F(unmap, mremap_moves)
{
	__u8 *gone = self->text + variant->page * SFT_PAGE;
	size_t size = variant->nr * SFT_PAGE;
	__u8 *to = sft_map(size, PROT_NONE);

	ASSERT_NE(NULL, to);
	ASSERT_EQ(to, mremap(gone, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
			     to));
	check_unmapped(_metadata, variant->drops);
}

/* Something is moved over the text. */
TEST_F(unmap, mremap_overwrites)
{
	__u8 *gone = self->text + variant->page * SFT_PAGE;
	size_t size = variant->nr * SFT_PAGE;
	__u8 *from = sft_map(size, SFT_RX);

	ASSERT_NE(NULL, from);
	ASSERT_EQ(gone, mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
			       gone));
	check_unmapped(_metadata, variant->drops);
}

/* Pages are thrown away or change permissions, the mapping stays. */
TEST_F(unmap, mprotect_keeps_the_window)
{
	__u8 *page = self->text + variant->page * SFT_PAGE;
	size_t size = variant->nr * SFT_PAGE;

	ASSERT_EQ(0, mprotect(page, size, SFT_RW));
	ASSERT_EQ(0, mprotect(page, size, PROT_NONE));
	ASSERT_EQ(0, mprotect(page, size, SFT_RX));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->call));
}

TEST_F(unmap, madvise_keeps_the_window)
{
	ASSERT_EQ(0, madvise(self->text + variant->page * SFT_PAGE,
			     variant->nr * SFT_PAGE, MADV_DONTNEED));
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(0, sft_unregister(KEY));
}

TEST_F(life, mremap_shrinks_text)
{
	/* The page behind the window first, then one of its own. */
	ASSERT_EQ(self->text, mremap(self->text, TEXT_SIZE,
				     TEXT_SIZE - SFT_PAGE, 0));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->call));
	ASSERT_EQ(self->text, mremap(self->text, TEXT_SIZE - SFT_PAGE,
				     TEXT_SIZE - 2 * SFT_PAGE, 0));
	EXPECT_EQ(0, sft_windows());
	EXPECT_EQ(-ENOENT, sft_unregister(KEY));
}

/* The text stays mapped in place, empty: so does the window. */
TEST_F(life, mremap_dontunmap_keeps_the_window)
{
	void *to = mremap(self->text, TEXT_SIZE, TEXT_SIZE,
			  MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);

	ASSERT_NE(MAP_FAILED, to);
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(0, sft_unregister(KEY));
}

/* Where it has moved to nothing is registered. */
TEST_F(life, moved_text_has_no_window)
{
	__u8 *to = mremap(self->text, TEXT_SIZE, TEXT_SIZE,
			     MREMAP_MAYMOVE | MREMAP_FIXED,
			     sft_map(TEXT_SIZE, PROT_NONE));
	const struct sft_call call = { to + SFT_PAGE, sft_leaf };

	ASSERT_NE(MAP_FAILED, to);
	EXPECT_EQ(0, sft_windows());
	EXPECT_TRUE(walk_loses(&call));
	EXPECT_EQ(0, register_slots(KEY, self->section, to + SFT_PAGE,
				    SFT_PAGE));
	EXPECT_TRUE(walks(&call));
}

TEST_F(life, munmap_of_the_section_keeps_the_window)
{
	ASSERT_EQ(0, munmap(self->section, SFT_PAGE));
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(0, sft_unregister(KEY));
}

/* One munmap takes several windows, but not those beside. */
TEST_F(life, munmap_of_many_windows)
{
	__u8 *text = make_text();
	unsigned int i;

	ASSERT_NE(NULL, text);
	for (i = 0; i < 3 * 64; i++)
		ASSERT_EQ(0, sft_register_text(1000 + i, self->section,
					       SECTION_LEN, text + 64 * i, 64,
					       0));
	EXPECT_EQ(1 + 3 * 64, sft_windows());
	ASSERT_EQ(0, munmap(text + SFT_PAGE, SFT_PAGE));
	EXPECT_EQ(1 + 2 * 64, sft_windows());
	EXPECT_EQ(0, sft_unregister(1000 + 63));
	EXPECT_EQ(-ENOENT, sft_unregister(1000 + 64));
	EXPECT_EQ(-ENOENT, sft_unregister(1000 + 127));
	EXPECT_EQ(0, sft_unregister(1000 + 128));
	EXPECT_TRUE(walks(&self->call));
}

/* A failing munmap removes nothing. */
TEST_F(life, refused_munmap_keeps_the_window)
{
	EXPECT_EQ(-1, munmap(self->text + 1, SFT_PAGE));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->call));
}

/* Windows come and go on one CPU, children with copies on the other. */
static void *register_for_a_while(void *arg)
{
	const struct sft_call *call = arg;
	__u8 *section = sft_map(SFT_PAGE, SFT_RW);
	const __u8 *text = (const __u8 *)call->entry - SFT_PAGE;
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		if (register_slots(100 + i % 7, section, text, 64))
			return (void *)1;
		if (sft_unregister(100 + i % 7))
			return (void *)2;
	}
	return NULL;
}

TEST_F_TIMEOUT(life, fork_while_windows_change, 60)
{
	pthread_t thread;
	unsigned int i;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, register_for_a_while,
				    &self->call));
	for (i = 0; i < 20; i++) {
		pid_t child = fork();
		int status;

		ASSERT_LE(0, child);
		if (!child)
			_exit(sft_unregister(KEY) || sft_windows() > 1);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
	}
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	EXPECT_EQ(1, sft_windows());
}

/* An event that samples this CPU's share of us and of all our children. */
static int sample_children(struct sft_event *event, int cpu, bool defer)
{
	struct perf_event_attr attr;

	sft_attr_init(&attr, PERF_TYPE_SOFTWARE, defer);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 50000;
	attr.inherit = 1;
	attr.disabled = 0;
	return sft_event_open_on(event, &attr, cpu);
}

static int busy_child(const struct sft_call *call)
{
	__u8 *section = sft_map(SFT_PAGE, SFT_RW);
	const __u8 *text = (const __u8 *)call->entry - SFT_PAGE;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		sft_run(call);
		if (register_slots(2, section, text, 64) || sft_unregister(2))
			return 1;
	}
	return 0;
}

static int busy_child_execs(const struct sft_call *call)
{
	return busy_child(call) ? : child_execs(call);
}

/* Samples hit mms at each point of their lives. */
TEST_F_TIMEOUT(life, sampled_through_fork_exec_and_exit, 60)
{
	struct sft_event events[2];
	struct sft_chain chain;
	unsigned int i, samples = 0;

	ASSERT_EQ(0, sample_children(&events[0], 0, false));
	ASSERT_EQ(0, sample_children(&events[1], 0, true));
	for (i = 0; i < 20; i++) {
		EXPECT_EQ(0, in_child(busy_child, &self->call));
		EXPECT_EQ(100, in_child(busy_child_execs, &self->call));
	}
	while (!sft_event_chain(&events[0], &chain))
		samples++;
	EXPECT_LT(0, samples);
	EXPECT_TRUE(walks(&self->call));
	sft_event_close(&events[0]);
	sft_event_close(&events[1]);
}

TEST_HARNESS_MAIN
