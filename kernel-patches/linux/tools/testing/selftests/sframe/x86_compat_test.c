// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Walks of 32-bit code, immediate and deferred: perf has a separate loop for
 * it, a deferred walk reads words of four bytes. Neither uses windows.
 */
#include "harness.h"

#include "compat.h"
#include "slots.h"

#define KEY		1

FIXTURE(compat)
{
	__u8		*text;
	__u8		*stack;
	__u8		*section;
};

FIXTURE_VARIANT(compat)
{
	bool	defer;
	bool	window;
};

FIXTURE_VARIANT_ADD(compat, fp) { false, false };
FIXTURE_VARIANT_ADD(compat, defer) { true, false };
FIXTURE_VARIANT_ADD(compat, fp_window) { false, true };
FIXTURE_VARIANT_ADD(compat, defer_window) { true, true };

static void *map_low(int prot)
{
	void *mem = mmap(NULL, SFT_PAGE, prot,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

/* A row that would end the stack. */
static int register_end(__u8 *section, const __u8 *text)
{
	static const struct sft_row end = SFT_OUTERMOST(0);
	const struct sft_fde fde = {
		.start = text, .size = compat_end - compat_outer,
		.rows = &end, .nr_rows = 1,
	};

	return sft_register(KEY, section, sft_build(section, &fde, 1), NULL);
}

FIXTURE_SETUP(compat)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->text = map_low(SFT_RW);
	ASSERT_NE(NULL, self->text);
	sft_put_code(self->text, compat_outer, compat_end - compat_outer);
	ASSERT_EQ(0, mprotect(self->text, SFT_PAGE, SFT_RX));
	self->stack = map_low(SFT_RW);
	ASSERT_NE(NULL, self->stack);
	memset(self->stack, 0, SFT_PAGE);
	self->section = map_low(SFT_RW);
	ASSERT_NE(NULL, self->section);
	if (variant->window)
		ASSERT_EQ(0, register_end(self->section, self->text));
}

FIXTURE_TEARDOWN(compat)
{
	munmap(self->section, SFT_PAGE);
	munmap(self->stack, SFT_PAGE);
	munmap(self->text, SFT_PAGE);
}

/* The address of @label in the copy. */
#define AT(label)	((uintptr_t)self->text + ((label) - compat_outer))

struct entry {
	const __u8	*text;
	__u8		*stack;
};

static void run_compat(const void *arg)
{
	const struct entry *entry = arg;

	compat_enter(entry->stack + SFT_PAGE - 1024, entry->text,
		     entry->text + (compat_back - compat_outer));
}

/* Guards against: using 64-bit frames or rows in walks of 32-bit code. */
TEST_F(compat, frames_are_its_own)
{
	const struct entry entry = { self->text, self->stack };
	struct sft_event event;
	struct sft_chain chain;

	ASSERT_EQ(0, sft_break_open(&event, (void *)AT(compat_nop),
				    variant->defer));
	ASSERT_EQ(0, sft_event_sample_run(&event, run_compat, &entry, &chain));
	EXPECT_CHAIN(&chain, AT(compat_nop), AT(compat_outer_ret),
		     AT(compat_back));
	sft_event_close(&event);
}

TEST_HARNESS_MAIN
