// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines of libsfjit in a guest: the callchain at each instruction, in
 * any slot of a window, is the true stack.
 */
#include "check_slot.h"

#define PER_WINDOW	4096

FIXTURE(pool)
{
	struct sfjit_pool	*pool;
	struct sft_call		call;
};

FIXTURE_VARIANT(pool)
{
	unsigned int		kind;
	const struct sft_slot	*slot;
	bool			defer;
};

FIXTURE_VARIANT_ADD(pool, arg_fp) { SFJIT_TRAMP_ARG, &sft_slot_arg, false };
FIXTURE_VARIANT_ADD(pool, arg_defer) { SFJIT_TRAMP_ARG, &sft_slot_arg, true };
FIXTURE_VARIANT_ADD(pool, slot_fp) { SFJIT_TRAMP_SLOT, &sft_slot_data, false };
FIXTURE_VARIANT_ADD(pool, slot_defer) { SFJIT_TRAMP_SLOT, &sft_slot_data, true };
FIXTURE_VARIANT_ADD(pool, rbp_fp) { SFJIT_TRAMP_RBP, &sft_slot_rbp, false };
FIXTURE_VARIANT_ADD(pool, rbp_defer) { SFJIT_TRAMP_RBP, &sft_slot_rbp, true };

FIXTURE_SETUP(pool)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	ASSERT_EQ(0, sfjit_pool_create(variant->kind, &self->pool));
	self->call.target = sft_leaf;
}

FIXTURE_TEARDOWN(pool)
{
	sfjit_pool_retire(self->pool);
}

/* A further trampoline: each name makes one. */
static const __u8 *get(struct sfjit_pool *pool, unsigned int nr)
{
	char name[16];
	void *entry;

	snprintf(name, sizeof(name), "slot%u", nr);
	return sfjit_tramp_get(pool, sft_leaf, name, &entry) ? NULL : entry;
}

TEST_F(pool, first_and_second_slot)
{
	const __u8 *first = get(self->pool, 0), *second = get(self->pool, 1);

	ASSERT_NE(NULL, first);
	ASSERT_NE(NULL, second);
	ASSERT_EQ(1, sft_windows());
	check_slot(_metadata, first, variant->slot, variant->defer);
	check_slot(_metadata, second, variant->slot, variant->defer);
}

/* The last slot of a window and the first one of the next. */
TEST_F(pool, across_windows)
{
	const __u8 *last = NULL, *next;
	unsigned int i;

	for (i = 0; i < PER_WINDOW; i++) {
		last = get(self->pool, i);
		ASSERT_NE(NULL, last);
	}
	ASSERT_EQ(1, sft_windows());
	next = get(self->pool, i);
	ASSERT_NE(NULL, next);
	ASSERT_EQ(2, sft_windows());
	check_slot(_metadata, last, variant->slot, variant->defer);
	check_slot(_metadata, next, variant->slot, variant->defer);
}

/* The key is the start of the text; without its window the caller is lost. */
TEST_F(pool, without_window_the_caller_is_lost)
{
	const __u8 *entry = get(self->pool, 0);
	const struct sft_call call = { entry, sft_leaf };
	struct sft_chain chain;

	ASSERT_NE(NULL, entry);
	ASSERT_EQ(0, sfjit_unregister((uintptr_t)entry));
	ASSERT_EQ(0, sft_windows());
	ASSERT_EQ(0, sft_chain_at(entry, variant->defer, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)entry, SFT_LOST);
}

TEST_F(pool, retired_pool_has_no_windows)
{
	unsigned int i;

	for (i = 0; i <= PER_WINDOW; i++)
		ASSERT_NE(NULL, get(self->pool, i));
	ASSERT_EQ(2, sft_windows());
	ASSERT_EQ(0, sfjit_pool_retire(self->pool));
	self->pool = NULL;
	EXPECT_EQ(0, sft_windows());
}

/* Rows given by a caller, in memory of its own. */
TEST(section_made_from_rows)
{
	const __u8 *text = sft_map_code(sft_slot_rbp.code, SFT_SLOT, SFT_PAGE);
	const struct sfjit_function function = {
		.addr = (uintptr_t)text, .size = SFT_SLOT,
		.nr_rows = ARRAY_SIZE(push_rows), .rows = push_rows,
	};
	void *section = sft_map(SFT_PAGE, SFT_RW);
	long len;

	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	ASSERT_NE(NULL, text);
	len = sfjit_section_fill(section, SFT_PAGE, &function, 1);
	ASSERT_LT(0, len);
	ASSERT_EQ(0, sfjit_register((uintptr_t)text, section, len, text,
				    SFT_SLOT));
	check_slot(_metadata, text, &sft_slot_rbp, false);
	check_slot(_metadata, text, &sft_slot_rbp, true);
}

TEST_HARNESS_MAIN
