// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The kernel keeps the rules it has decoded of fixed sections. It uses them as
 * long as the window is there, and not a walk longer; those of live sections it
 * does not keep. Each CPU keeps its own, so these tests stay on one.
 */
#include <sched.h>
#include <sys/wait.h>

#include "harness.h"

#include "slots.h"

#define KEY		1
#define KEY_OTHER	2
#define KEY_STAYS	3
/* Slots of other windows in the same text. */
#define OTHER		(4 * SFT_SLOT)
#define STAYS		(8 * SFT_SLOT)
#define NR_OTHERS	20
#define NR_TURNS	20

FIXTURE(cache)
{
	__u8		*text;
	__u8		*section;
	size_t		len;
	struct sft_call	call;
};

FIXTURE_VARIANT(cache)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(cache, fp) { .defer = false };
FIXTURE_VARIANT_ADD(cache, defer) { .defer = true };

/* The rows of the slot, or one that says that the stack ends here. */
static size_t build(__u8 *section, const __u8 *text, bool ends)
{
	static const struct sft_row outermost[] = { SFT_OUTERMOST(0) };
	struct sft_fde fde = SFT_SLOT_FDE(text, sft_slot_arg);

	if (ends) {
		fde.rows = outermost;
		fde.nr_rows = 1;
	}
	return sft_build(section, &fde, 1);
}

static int register_slot(__u8 *section, const __u8 *text, bool ends,
			 __u32 flags)
{
	return sft_register_text(KEY, section, build(section, text, ends),
				 text, SFT_SLOT, flags);
}

FIXTURE_SETUP(cache)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	ASSERT_EQ(0, sft_run_on(sched_getcpu()));
	self->text = sft_make_slot(&sft_slot_arg, NULL);
	ASSERT_NE(NULL, self->text);
	self->section = sft_map(3 * SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->call.entry = self->text;
	self->call.target = sft_leaf;
	ASSERT_EQ(0, sft_register_callees());
}

FIXTURE_TEARDOWN(cache)
{
	munmap(self->text, SFT_SLOT_MAP);
	munmap(self->section, 3 * SFT_PAGE);
}

#define REGISTER(sec, ends, flags)					\
	ASSERT_EQ(0, register_slot(sec, self->text, ends, flags))

/* Offsets in the slot: its call, and the return, which has the next row. */
#define CALL	(sft_slot_arg.insns[2])
#define RETURN	(sft_slot_arg.insns[4])

#define EXPECT_AT(off, ...) do {					\
	const __u8 *_addr = self->text + (off);				\
	struct sft_chain _chain;					\
									\
	ASSERT_EQ(0, sft_chain_at(_addr, variant->defer, &self->call,	\
				  &_chain));				\
	EXPECT_CHAIN(&_chain, (uintptr_t)_addr, ##__VA_ARGS__);		\
} while (0)

/* The same walk on top of the stack and below a callee. */
#define EXPECT_BOTH(...) do {						\
	struct sft_chain _chain;					\
									\
	EXPECT_AT(CALL, ##__VA_ARGS__);					\
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer,	\
				  &self->call, &_chain));		\
	EXPECT_CHAIN(&_chain, (uintptr_t)sft_leaf_body,			\
		     (uintptr_t)self->text + sft_slot_arg.ret,		\
		     ##__VA_ARGS__);					\
} while (0)

/* Others come and go, which is a change of the windows for every walk. */
static int change_others(__u8 *section, const __u8 *text)
{
	size_t len = build(section, text + OTHER, false);
	int ret = sft_register(KEY_OTHER, section, len, NULL);

	return ret ?: sft_unregister(KEY_OTHER);
}

#define CHANGE_OTHERS()							\
	ASSERT_EQ(0, change_others(self->section + 2 * SFT_PAGE, self->text))

#define READ_PAGE(page)	((void)__atomic_load_n((page), __ATOMIC_RELAXED))

/* ---- What is kept ------------------------------------------------------- */

/* Guards against: the promise that a section does not change is not used. */
TEST_F(cache, section_is_not_read_twice)
{
	REGISTER(self->section, false, 0);
	EXPECT_BOTH(SFT_CALLERS);
	build(self->section, self->text, true);
	EXPECT_BOTH(SFT_CALLERS);
	ASSERT_EQ(0, mprotect(self->section, SFT_PAGE, PROT_NONE));
	EXPECT_BOTH(SFT_CALLERS);
	/* The last instruction of the same row. */
	EXPECT_AT(sft_slot_arg.ret, SFT_CALLERS);
	EXPECT_EQ(0, sft_all_refused());
	EXPECT_AT(RETURN);
	EXPECT_EQ(1, sft_refused("section_fault"));
	/* Where no walk has been, the bytes that are there now count. */
	ASSERT_EQ(0, mprotect(self->section, SFT_PAGE, SFT_RW));
	EXPECT_AT(RETURN);
	EXPECT_EQ(1, sft_all_refused());
}

/* Guards against: samples whose time tells what other processes do. */
TEST_F(cache, another_process_empties_it)
{
	int status;
	pid_t child;

	REGISTER(self->section, false, 0);
	EXPECT_BOTH(SFT_CALLERS);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		/* Without access flags in hardware a sample reads it then. */
		READ_PAGE(self->section);
		EXPECT_BOTH(SFT_CALLERS);
		_exit(!__test_passed(_metadata));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	build(self->section, self->text, true);
	EXPECT_BOTH();
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: a mistake that is kept, so that nothing repairs it. */
TEST_F(cache, refusal_is_not_kept)
{
	REGISTER(self->section, false, 0);
	sft_index(self->section, 0)->func_size = 0;
	EXPECT_BOTH();
	EXPECT_EQ(2, sft_refused("no_fde"));
	sft_index(self->section, 0)->func_size = SFT_SLOT;
	EXPECT_BOTH(SFT_CALLERS);
	EXPECT_EQ(2, sft_all_refused());
}

/* Guards against: a JIT that registers all the time undoes it for the rest. */
TEST_F(cache, other_windows_do_not_empty_it)
{
	unsigned int i;

	REGISTER(self->section, false, 0);
	EXPECT_BOTH(SFT_CALLERS);
	build(self->section, self->text, true);
	for (i = 0; i < NR_OTHERS; i++) {
		CHANGE_OTHERS();
		EXPECT_BOTH(SFT_CALLERS);
	}
	EXPECT_AT(RETURN);
}

/* ---- Changes of the window ---------------------------------------------- */

/* Guards against: rules of a window that was replaced. */
TEST_F(cache, replaced_window)
{
	__u8 *next = self->section + SFT_PAGE;
	unsigned int i;

	REGISTER(self->section, false, 0);
	EXPECT_BOTH(SFT_CALLERS);
	for (i = 0; i < NR_OTHERS; i++) {
		REGISTER(next, true, SFRAME_WINDOW_REPLACE);
		EXPECT_BOTH();
		CHANGE_OTHERS();
		EXPECT_BOTH();
		REGISTER(self->section, false, SFRAME_WINDOW_REPLACE);
		CHANGE_OTHERS();
		EXPECT_BOTH(SFT_CALLERS);
	}
	/* The same section again is a window of its own. */
	ASSERT_EQ(0, sft_renew(KEY, self->section,
			       build(self->section, self->text, true),
			       self->text, SFT_SLOT));
	EXPECT_BOTH();
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: rules of no window, or that there is none, kept. */
TEST_F(cache, unregistered_window)
{
	__u8 *section = self->section + SFT_PAGE;
	const size_t len = build(section, self->text + STAYS, false);
	unsigned int i;

	/* Walks look for windows as long as there is one. */
	ASSERT_EQ(0, sft_register(KEY_STAYS, section, len, NULL));
	EXPECT_BOTH(SFT_SLOT_LOST);
	for (i = 0; i < NR_OTHERS; i++) {
		REGISTER(self->section, i % 2, 0);
		if (i % 2)
			EXPECT_BOTH();
		else
			EXPECT_BOTH(SFT_CALLERS);
		ASSERT_EQ(0, sft_unregister(KEY));
		EXPECT_BOTH(SFT_SLOT_LOST);
		CHANGE_OTHERS();
		EXPECT_BOTH(SFT_SLOT_LOST);
	}
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: rules of text that was unmapped. */
TEST_F(cache, other_text_at_the_same_addresses)
{
	__u8 code[SFT_SLOT];
	unsigned int i;

	memcpy(code, self->text, sizeof(code));
	for (i = 0; i < NR_OTHERS; i++) {
		REGISTER(self->section, i % 2, 0);
		if (i % 2)
			EXPECT_BOTH();
		else
			EXPECT_BOTH(SFT_CALLERS);
		ASSERT_EQ(0, munmap(self->text, SFT_PAGE));
		EXPECT_EQ(SFT_CALLEES, sft_windows());
		ASSERT_EQ(self->text, mmap(self->text, SFT_PAGE, SFT_RW,
					   MAP_PRIVATE | MAP_ANONYMOUS |
					   MAP_FIXED_NOREPLACE, -1, 0));
		sft_put_code(self->text, code, sizeof(code));
		ASSERT_EQ(0, mprotect(self->text, SFT_PAGE, SFT_RX));
	}
	EXPECT_BOTH(SFT_SLOT_LOST);
	EXPECT_EQ(0, sft_all_refused());
}

/* ---- Live sections ------------------------------------------------------ */

/* Guards against: a function that was taken back, and is still believed. */
TEST_F(cache, function_of_a_live_section_is_taken_back)
{
	const struct sft_fde fde = SFT_SLOT_FDE(self->text, sft_slot_arg);
	__u8 *fixed = self->section + SFT_PAGE;
	struct sft_live live;
	unsigned int i;

	/* What a fixed window has left is no rule of a live one. */
	REGISTER(fixed, false, 0);
	EXPECT_BOTH(SFT_CALLERS);
	sft_live_init(&live, self->section, SFT_PAGE, 1);
	ASSERT_EQ(0, sft_register_text(KEY, live.sec, live.size, self->text,
				       SFT_SLOT, SFRAME_WINDOW_LIVE |
				       SFRAME_WINDOW_REPLACE));
	EXPECT_BOTH();
	sft_live_add(&live, &fde);
	for (i = 1; i <= NR_TURNS; i++) {
		EXPECT_BOTH(SFT_CALLERS);
		sft_index(live.sec, 0)->func_size = 0;
		EXPECT_BOTH();
		EXPECT_EQ(2 + 2 * i, sft_refused("no_fde"));
		sft_index(live.sec, 0)->func_size = SFT_SLOT;
	}
	EXPECT_EQ(2 + 2 * NR_TURNS, sft_all_refused());
}

/* ---- Other address spaces ----------------------------------------------- */

/* What makes the child's table another one. */
enum how { IN_PLACE, REPLACE, UNREGISTER };

static int make_other(enum how how, __u8 *section, const __u8 *text)
{
	switch (how) {
	case IN_PLACE:
		/* The window is the parent's, the bytes are not. */
		build(section, text, true);
		return 0;
	case REPLACE:
		return register_slot(section + SFT_PAGE, text, true,
				     SFRAME_WINDOW_REPLACE);
	default:
		/* Walks look for windows as long as there is one. */
		return sft_unregister(KEY) ?:
		       sft_register_text(KEY_OTHER, section,
					 build(section, text, true),
					 text + OTHER, SFT_SLOT, 0);
	}
}

static bool walk_is(const struct sft_call *call, bool defer, const __u64 *ip,
		    unsigned int nr)
{
	struct sft_chain chain;

	return !sft_chain_at((void *)ip[0], defer, call, &chain) &&
	       sft_chain_check(&chain, ip, nr);
}

/* A walk each time it is the turn of the child; 0 if all were right. */
static int take_turns(const int *pipes, const struct sft_call *call,
		      bool defer, bool lost)
{
	const __u64 ip[] = { (uintptr_t)call->entry + CALL, SFT_SLOT_LOST };
	bool good;
	char byte;

	while (read(pipes[0], &byte, 1) == 1) {
		good = walk_is(call, defer, ip, 1 + lost);
		if (!good || write(pipes[3], &byte, 1) != 1)
			return 1;
	}
	return 0;
}

/* Guards against: rules of another process that was on the CPU before. */
static void parent_and_child(struct __test_metadata *_metadata, __u8 *section,
			     const struct sft_call *call, bool defer,
			     enum how how)
{
	const __u64 ip[] = { (uintptr_t)call->entry + CALL, SFT_CALLERS };
	int pipes[4], status;
	unsigned int i;
	pid_t child;
	char byte;

	ASSERT_EQ(0, register_slot(section, call->entry, false, 0));
	ASSERT_TRUE(walk_is(call, defer, ip, 2));
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, pipe(pipes + 2));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		close(pipes[1]);
		if (make_other(how, section, call->entry))
			_exit(2);
		_exit(take_turns(pipes, call, defer, how == UNREGISTER));
	}
	close(pipes[3]);
	for (i = 0; i < NR_TURNS; i++) {
		ASSERT_EQ(1, write(pipes[1], "", 1));
		ASSERT_EQ(1, read(pipes[2], &byte, 1));
		EXPECT_TRUE(walk_is(call, defer, ip, 2));
	}
	close(pipes[1]);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, sft_all_refused());
}

#define PARENT_AND_CHILD(how)						\
	parent_and_child(_metadata, self->section, &self->call,		\
			 variant->defer, how)

TEST_F(cache, child_changes_its_copy_of_the_section)
{
	PARENT_AND_CHILD(IN_PLACE);
}

TEST_F(cache, child_replaces_the_window)
{
	PARENT_AND_CHILD(REPLACE);
}

TEST_F(cache, child_unregisters_the_window)
{
	PARENT_AND_CHILD(UNREGISTER);
}

TEST_HARNESS_MAIN
