// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Effects of fork, exec, threads and changed mappings on windows.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "harness.h"

#include "slots.h"

#define KEY		1
#define NR_PAGES	8
#define TEXT_SIZE	(NR_PAGES * SFT_PAGE)
#define CHILD_STACK	(16 * SFT_PAGE)

/**
 * struct window - a window over the middle six of eight pages
 * @text:	the first page
 * @section:	its section
 * @len:	length of the section
 * @call:	runs the first slot of the window
 */
struct window {
	__u8		*text;
	__u8		*section;
	size_t		len;
	struct sft_call	call;
};

FIXTURE(life)
{
	struct window	w;
};

static __u8 *make_text(void)
{
	__u8 code[TEXT_SIZE];
	unsigned int i;

	for (i = 0; i < TEXT_SIZE; i += SFT_SLOT)
		memcpy(code + i, sft_slot_arg.code, SFT_SLOT);
	return sft_map_code(code, TEXT_SIZE, TEXT_SIZE);
}

static size_t build_slots(__u8 *section, const __u8 *text, size_t size)
{
	const struct sft_fde fde = {
		.start = text, .size = size, .rows = sft_slot_arg.rows,
		.nr_rows = 3, .info = SFRAME_FDE_PCMASK, .rep_size = SFT_SLOT,
	};

	return sft_build(section, &fde, 1);
}

static int register_slots(unsigned long key, __u8 *section,
			  const __u8 *text, size_t size)
{
	return sft_register(key, section, build_slots(section, text, size),
			    NULL);
}

static int make_window(struct window *w)
{
	w->text = make_text();
	w->section = sft_map(SFT_PAGE, SFT_RW);
	if (!w->text || !w->section)
		return -ENOMEM;
	w->call.entry = w->text + SFT_PAGE;
	w->call.target = sft_leaf;
	w->len = build_slots(w->section, w->text + SFT_PAGE,
			     TEXT_SIZE - 2 * SFT_PAGE);
	return sft_register(KEY, w->section, w->len, NULL);
}

static void unmap_window(struct window *w)
{
	munmap(w->text, TEXT_SIZE);
	munmap(w->section, SFT_PAGE);
}

FIXTURE_SETUP(life)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	ASSERT_EQ(0, make_window(&self->w));
}

FIXTURE_TEARDOWN(life)
{
	unmap_window(&self->w);
}

/* Is the stack at the slot's call complete, or cut by the known loss? */
static bool walk_is(const struct sft_call *call, bool defer, bool complete)
{
	const __u64 ip = (uintptr_t)call->entry + sft_slot_arg.insns[2];
	const __u64 with[] = { ip, SFT_CALLERS };
	const __u64 without[] = { ip, SFT_SLOT_LOST };
	struct sft_chain chain;

	if (sft_chain_at((void *)ip, defer, call, &chain))
		return false;
	return sft_chain_check(&chain, complete ? with : without, 2);
}

/*
 * Deferred first, to fault in pages: without hardware access flags, a child has
 * to fault before a walk in an interrupt can read its parent's pages.
 */
static bool walks(const struct sft_call *call)
{
	return walk_is(call, true, true) && walk_is(call, false, true);
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

/* Guards against: children without windows, as in earlier series. */
TEST_F(life, fork_copies_windows)
{
	EXPECT_EQ(0, in_child(child_has_window, &self->w.call));
	EXPECT_EQ(0, in_child(grandchild_has_window, &self->w.call));
	EXPECT_TRUE(walks(&self->w.call));
}

/* Guards against: sharing the parent's tree: dup_mm() copies the pointer. */
TEST_F(life, child_and_parent_do_not_affect_each_other)
{
	EXPECT_EQ(0, in_child(child_unregisters, &self->w.call));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->w.call));
	EXPECT_EQ(0, sft_unregister(KEY));
	EXPECT_EQ(0, in_child(child_has_none, &self->w.call));
}

/* Guards against: a child's windows that are freed with the parent's. */
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
		_exit(child_has_window(&self->w.call));
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

/* Guards against: a range and key that the child cannot reuse. */
TEST_F(life, dontfork_text_leaves_the_window_behind)
{
	ASSERT_EQ(0, madvise(self->w.text + 3 * SFT_PAGE, SFT_PAGE,
			     MADV_DONTFORK));
	EXPECT_EQ(0, in_child(child_registers_again, &self->w.call));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->w.call));

	ASSERT_EQ(0, madvise(self->w.text, TEXT_SIZE, MADV_DOFORK));
	EXPECT_EQ(0, in_child(child_has_window, &self->w.call));
}

/* Guards against: losing a window because adjacent pages are not forked. */
TEST_F(life, dontfork_elsewhere_changes_nothing)
{
	ASSERT_EQ(0, madvise(self->w.text, SFT_PAGE, MADV_DONTFORK));
	ASSERT_EQ(0, madvise(self->w.text + 7 * SFT_PAGE, SFT_PAGE,
			     MADV_DONTFORK));
	EXPECT_EQ(0, in_child(child_has_window, &self->w.call));
}

/* The child does not have the section: the walk ends, the window stays. */
static int child_faults(const struct sft_call *call)
{
	struct sft_chain chain;
	struct sft_stats stats;
	__u64 ip = (uintptr_t)call->entry + sft_slot_arg.insns[2];

	if (sft_chain_at((void *)ip, false, call, &chain) ||
	    !sft_chain_check(&chain, &ip, 1))
		return 1;
	if (sft_stats(&stats) || stats.windows != 1)
		return 2;
	return strcmp(stats.last_reason, "section_fault") != 0;
}

/* Guards against: dropping a window whose section the child lacks. */
TEST_F(life, dontfork_section_keeps_the_window)
{
	__u8 *low = mmap((void *)(1UL << 40), SFT_PAGE, SFT_RW,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0);

	ASSERT_NE(MAP_FAILED, low);
	ASSERT_EQ(0, sft_unregister(KEY));
	ASSERT_EQ(0, register_slots(KEY, low, self->w.text + SFT_PAGE, SFT_PAGE));
	ASSERT_EQ(0, madvise(low, SFT_PAGE, MADV_DONTFORK));
	EXPECT_EQ(0, in_child(child_faults, &self->w.call));
	EXPECT_TRUE(walks(&self->w.call));
}

/*
 * After a fork with many windows, the child has all of them, and its changes do
 * not affect the parent.
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

/* Guards against: an incomplete copy of a tree with more than one node. */
TEST_F(life, fork_with_many_windows)
{
	unsigned int i;

	for (i = 0; i < 512; i++)
		ASSERT_EQ(0, sft_register_text(1000 + i, self->w.section,
					       self->w.len, self->w.text + 8 * i,
					       8, 0));
	EXPECT_EQ(0, in_child(child_has_all, &self->w.call));
	EXPECT_EQ(1 + 512, sft_windows());
}

#define NR_MANY		65000

static int child_of_many(const struct sft_call *call)
{
	return sft_windows() != 1 + NR_MANY || sft_unregister(1000) ||
	       sft_unregister(1000 + NR_MANY - 1) ||
	       sft_windows() != NR_MANY - 1;
}

/* Guards against: an oops in freeing a high tree, which takes another path. */
TEST_F_TIMEOUT(life, fork_with_as_many_windows_as_there_can_be,
	       4 * TEST_TIMEOUT_DEFAULT)
{
	__u8 *text = sft_map((NR_MANY + SFT_PAGE) & -SFT_PAGE, SFT_RX);
	unsigned int i;

	ASSERT_NE(NULL, text);
	if (sft_query(PR_SFRAME_QUERY_LIMIT) <= NR_MANY)
		SKIP(return, "vm.max_sframe_windows is too low");
	for (i = 0; i < NR_MANY; i++)
		ASSERT_EQ(0, sft_register_text(1000 + i, self->w.section,
					       self->w.len, text + i, 1, 0));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, in_child(child_of_many, &self->w.call));
	EXPECT_EQ(1 + NR_MANY, sft_windows());
	EXPECT_TRUE(walks(&self->w.call));
	/* One munmap drops them all. */
	EXPECT_EQ(0, munmap(text, (NR_MANY + SFT_PAGE) & -SFT_PAGE));
	EXPECT_EQ(1, sft_windows());
}

/* Run @fn in a child that shares the memory; its wait status, or -1. */
static int in_vfork_child(int (*fn)(void *))
{
	char *stack = sft_map(CHILD_STACK, SFT_RW);
	int status;
	pid_t child;

	if (!stack)
		return -1;
	child = clone(fn, stack + CHILD_STACK,
		      CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	munmap(stack, CHILD_STACK);
	return status;
}

static int vfork_child(void *arg)
{
	_exit(sft_windows() == 1 ? sft_unregister(KEY) : 1);
}

/* Guards against: copying windows for a child that shares the memory. */
TEST_F(life, vfork_shares_windows)
{
	EXPECT_EQ(0, in_vfork_child(vfork_child));
	EXPECT_EQ(0, sft_windows());
	EXPECT_TRUE(walk_loses(&self->w.call));
}

/* Its exit must not drop the windows. */
static int quiet_child(void *arg)
{
	_exit(sft_windows() != 1);
}

/* Guards against: windows dropped when the first user of an mm exits. */
TEST_F(life, exit_of_a_vfork_child_keeps_windows)
{
	EXPECT_EQ(0, in_vfork_child(quiet_child));
	EXPECT_TRUE(walks(&self->w.call));
}

/* Makes this program only report its windows, see the constructor below. */
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

/* Guards against: windows that survive exec. */
TEST_F(life, exec_drops_windows)
{
	EXPECT_EQ(100, in_child(child_execs, &self->w.call));
	EXPECT_EQ(1, sft_windows());

	/* After vfork, exec does not affect the parent's windows. */
	EXPECT_EQ(100, WEXITSTATUS(in_vfork_child(exec_child)));
	unsetenv(EXEC_MARK);
	EXPECT_TRUE(walks(&self->w.call));
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

/* Guards against: windows that only the registering thread has. */
TEST_F(life, threads_share_windows)
{
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_walks, &self->w.call));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_swaps, &self->w.call));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	EXPECT_EQ(-ENOENT, sft_unregister(KEY));
	EXPECT_TRUE(walk_loses(&self->w.call));
}

/* Threads race to register the first window, but share one registry. */
static void *thread_registers(void *arg)
{
	const struct sft_call *call = arg;
	static unsigned long nr_threads;
	unsigned long nr = __atomic_fetch_add(&nr_threads, 1, __ATOMIC_RELAXED);
	__u8 *section = sft_map(SFT_PAGE, SFT_RW);
	const __u8 *text = call->entry;

	return (void *)(long)register_slots(nr, section, text + nr * 64, 64);
}

/* Guards against: losing windows in a second registry that lost the race. */
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
	struct window	w;
	__u8		*gone;
	size_t		size;
};

/* Pages of the text, and whether unmapping them drops the window. */
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
	ASSERT_EQ(0, make_window(&self->w));
	self->gone = self->w.text + variant->page * SFT_PAGE;
	self->size = variant->nr * SFT_PAGE;
}

FIXTURE_TEARDOWN(unmap)
{
	unmap_window(&self->w);
}

/* Ways to unmap text; each returns false on failure. */
static bool unmap_it(__u8 *gone, size_t size)
{
	return !munmap(gone, size);
}

static bool map_over_it(__u8 *gone, size_t size)
{
	return mmap(gone, size, SFT_RX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		    -1, 0) == gone;
}

static bool move(void *from, void *to, size_t size)
{
	return from && to &&
	       mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
	       to;
}

static bool move_it(__u8 *gone, size_t size)
{
	return move(gone, sft_map(size, PROT_NONE), size);
}

static bool move_over_it(__u8 *gone, size_t size)
{
	return move(sft_map(size, SFT_RX), gone, size);
}

static bool unmap_and_map_it(__u8 *gone, size_t size)
{
	return unmap_it(gone, size) && map_over_it(gone, size);
}

/* Unmapping any of its text drops the window, its range and its key. */
static void check_gone(struct __test_metadata *_metadata, bool drops)
{
	EXPECT_EQ(drops ? 0 : 1, sft_windows());
	EXPECT_EQ(drops ? -ENOENT : 0, sft_unregister(KEY));
}

/* Guards against: a stale window, as earlier series had without a hook. */
TEST_F(unmap, munmap)
{
	ASSERT_TRUE(unmap_it(self->gone, self->size));
	check_gone(_metadata, variant->drops);
}

/* Guards against: a hook in munmap() only. */
TEST_F(unmap, map_fixed)
{
	ASSERT_TRUE(map_over_it(self->gone, self->size));
	check_gone(_metadata, variant->drops);
}

/* Guards against: a window that stays after its text has moved away. */
TEST_F(unmap, mremap_moves)
{
	ASSERT_TRUE(move_it(self->gone, self->size));
	check_gone(_metadata, variant->drops);
}

/* Guards against: a window that stays after a mapping moves over its text. */
TEST_F(unmap, mremap_overwrites)
{
	ASSERT_TRUE(move_over_it(self->gone, self->size));
	check_gone(_metadata, variant->drops);
}

/* Guards against: a dropped window that still blocks its range or key. */
TEST_F(unmap, range_and_key_are_free_again)
{
	ASSERT_TRUE(unmap_and_map_it(self->gone, self->size));
	EXPECT_EQ(variant->drops ? 0 : -EBUSY,
		  register_slots(KEY, self->w.section,
				 self->w.text + SFT_PAGE,
				 TEXT_SIZE - 2 * SFT_PAGE));
}

/* Guards against: JITs that lose windows while they write code. */
TEST_F(unmap, mprotect_keeps_the_window)
{
	ASSERT_EQ(0, mprotect(self->gone, self->size, SFT_RW));
	ASSERT_EQ(0, mprotect(self->gone, self->size, PROT_NONE));
	ASSERT_EQ(0, mprotect(self->gone, self->size, SFT_RX));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->w.call));
}

/* Writable slots, in addition to those of the fixture. */
struct written {
	__u8		*text;
	__u8		*section;
	struct sft_call	call;
};

static int write_slots(struct written *w, const __u8 *code)
{
	w->text = sft_map(TEXT_SIZE, SFT_RW);
	w->section = sft_map(SFT_PAGE, SFT_RW);
	if (!w->text || !w->section)
		return -ENOMEM;
	sft_put_code(w->text, code, TEXT_SIZE);
	w->call.entry = w->text;
	w->call.target = sft_leaf;
	return register_slots(KEY + 1, w->section, w->text, TEXT_SIZE);
}

/* Guards against: ignoring a window registered before PROT_EXEC is set. */
TEST_F(life, text_is_executable_after_it_is_registered)
{
	struct written w;

	ASSERT_EQ(0, write_slots(&w, self->w.text));
	ASSERT_EQ(0, mprotect(w.text, TEXT_SIZE, SFT_RX));
	EXPECT_TRUE(walks(&w.call));
	ASSERT_EQ(0, mprotect(w.text, TEXT_SIZE, SFT_RW));
	ASSERT_EQ(0, mprotect(w.text, TEXT_SIZE, SFT_RX));
	EXPECT_TRUE(walks(&w.call));
	EXPECT_EQ(2, sft_windows());
	EXPECT_EQ(0, sft_unregister(KEY + 1));
	EXPECT_TRUE(walk_loses(&w.call));
}

/* Guards against: losing stacks because other pages are still writable. */
TEST_F(life, text_is_executable_page_by_page)
{
	struct written w;
	size_t at;

	ASSERT_EQ(0, write_slots(&w, self->w.text));
	for (at = 0; at < TEXT_SIZE; at += SFT_PAGE) {
		ASSERT_EQ(0, mprotect(w.text + at, SFT_PAGE, SFT_RX));
		w.call.entry = w.text + at;
		EXPECT_TRUE(walks(&w.call));
	}
}

/* Guards against: a window for data that changes other stacks. */
TEST_F(life, text_is_never_executed)
{
	const __u64 before = sft_all_refused();
	struct written w;

	ASSERT_EQ(0, write_slots(&w, self->w.text));
	EXPECT_TRUE(walks(&self->w.call));
	EXPECT_EQ(before, sft_all_refused());
	EXPECT_EQ(2, sft_windows());
	ASSERT_EQ(0, munmap(w.text, TEXT_SIZE));
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(-ENOENT, sft_unregister(KEY + 1));
}

/* Guards against: a window that stays when code replaces the data. */
TEST_F(life, written_text_is_replaced_by_code)
{
	struct written w;
	__u8 *code = make_text();

	ASSERT_NE(NULL, code);
	ASSERT_EQ(0, write_slots(&w, self->w.text));
	ASSERT_EQ(w.text, mremap(code, TEXT_SIZE, TEXT_SIZE,
				 MREMAP_MAYMOVE | MREMAP_FIXED, w.text));
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(-ENOENT, sft_unregister(KEY + 1));
	EXPECT_TRUE(walk_loses(&w.call));
	EXPECT_TRUE(walks(&self->w.call));
}

/* Guards against: dropping a window when pages, not mappings, are removed. */
TEST_F(unmap, madvise_keeps_the_window)
{
	ASSERT_EQ(0, madvise(self->gone, self->size, MADV_DONTNEED));
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(0, sft_unregister(KEY));
}

/* Guards against: a window that stays when mremap() cuts off its last page. */
TEST_F(life, mremap_shrinks_text)
{
	/* First the page after the window, then its last page. */
	__u8 *text = self->w.text;

	ASSERT_EQ(text, mremap(text, TEXT_SIZE, TEXT_SIZE - SFT_PAGE, 0));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->w.call));
	ASSERT_EQ(text, mremap(text, TEXT_SIZE - SFT_PAGE,
			       TEXT_SIZE - 2 * SFT_PAGE, 0));
	EXPECT_EQ(0, sft_windows());
	EXPECT_EQ(-ENOENT, sft_unregister(KEY));
}

/* Guards against: dropping a window whose text stays mapped. */
TEST_F(life, mremap_dontunmap_keeps_the_window)
{
	void *to = mremap(self->w.text, TEXT_SIZE, TEXT_SIZE,
			  MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);

	ASSERT_NE(MAP_FAILED, to);
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(0, sft_unregister(KEY));
}

/* Guards against: a window that moves with its text. */
TEST_F(life, moved_text_has_no_window)
{
	__u8 *to = mremap(self->w.text, TEXT_SIZE, TEXT_SIZE,
			     MREMAP_MAYMOVE | MREMAP_FIXED,
			     sft_map(TEXT_SIZE, PROT_NONE));
	const struct sft_call call = { to + SFT_PAGE, sft_leaf };

	ASSERT_NE(MAP_FAILED, to);
	EXPECT_EQ(0, sft_windows());
	EXPECT_TRUE(walk_loses(&call));
	EXPECT_EQ(0, register_slots(KEY, self->w.section, to + SFT_PAGE,
				    SFT_PAGE));
	EXPECT_TRUE(walks(&call));
}

/* Guards against: dropping a window because its section is unmapped. */
TEST_F(life, munmap_of_the_section_keeps_the_window)
{
	ASSERT_EQ(0, munmap(self->w.section, SFT_PAGE));
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(0, sft_unregister(KEY));
}

/* Guards against: a munmap that drops one window only, or a neighbour. */
TEST_F(life, munmap_of_many_windows)
{
	__u8 *text = make_text();
	unsigned int i;

	ASSERT_NE(NULL, text);
	for (i = 0; i < 3 * 64; i++)
		ASSERT_EQ(0, sft_register_text(1000 + i, self->w.section,
					       self->w.len, text + 64 * i, 64,
					       0));
	EXPECT_EQ(1 + 3 * 64, sft_windows());
	ASSERT_EQ(0, munmap(text + SFT_PAGE, SFT_PAGE));
	EXPECT_EQ(1 + 2 * 64, sft_windows());
	EXPECT_EQ(0, sft_unregister(1000 + 63));
	EXPECT_EQ(-ENOENT, sft_unregister(1000 + 64));
	EXPECT_EQ(-ENOENT, sft_unregister(1000 + 127));
	EXPECT_EQ(0, sft_unregister(1000 + 128));
	EXPECT_TRUE(walks(&self->w.call));
}

/* Guards against: dropping windows for a munmap that fails. */
TEST_F(life, refused_munmap_keeps_the_window)
{
	EXPECT_EQ(-1, munmap(self->w.text + 1, SFT_PAGE));
	EXPECT_EQ(1, sft_windows());
	EXPECT_TRUE(walks(&self->w.call));
}

/* Register and unregister while another thread forks. */
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

/* Guards against: copying a tree while it changes. */
TEST_F(life, fork_while_windows_change)
{
	pthread_t thread;
	unsigned int i;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, register_for_a_while,
				    &self->w.call));
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

/* An event that samples this process and all its children on @cpu. */
static int sample_children(struct sft_event *event, int cpu, bool defer)
{
	struct perf_event_attr attr;

	sft_attr_init(&attr, PERF_TYPE_SOFTWARE, defer);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	/* Longer than a sample takes; otherwise nothing else would run. */
	attr.sample_period = 200000;
	attr.inherit = 1;
	attr.disabled = 0;
	return sft_event_open_on(event, &attr, cpu);
}

static int busy_child(const struct sft_call *call)
{
	__u8 *section = sft_map(SFT_PAGE, SFT_RW);
	const __u8 *text = (const __u8 *)call->entry - SFT_PAGE;
	unsigned int i;

	for (i = 0; i < 30; i++) {
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

/* Guards against: walks in an mm that is being set up or torn down. */
TEST_F(life, sampled_through_fork_exec_and_exit)
{
	struct sft_event events[2];
	struct sft_chain chain;
	unsigned int i, samples = 0;

	ASSERT_EQ(0, sample_children(&events[0], 0, false));
	ASSERT_EQ(0, sample_children(&events[1], 0, true));
	for (i = 0; i < 20; i++) {
		EXPECT_EQ(0, in_child(busy_child, &self->w.call));
		EXPECT_EQ(100, in_child(busy_child_execs, &self->w.call));
	}
	while (!sft_event_chain(&events[0], &chain))
		samples++;
	TH_LOG("%u samples", samples);
	EXPECT_LT(0, samples);
	sft_event_close(&events[0]);
	sft_event_close(&events[1]);
	EXPECT_TRUE(walks(&self->w.call));
}

TEST_HARNESS_MAIN
