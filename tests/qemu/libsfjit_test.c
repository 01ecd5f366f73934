// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines of libsfjit in a guest: the callchain at each instruction, in
 * any slot of a window, is the true stack.
 */
#include "kselftest_harness.h"

#include "slots.h"
#include <sfjit.h>

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

/* The code is what the table of its instructions was made for. */
static void check_code(struct __test_metadata *_metadata, const __u8 *entry,
		       const struct sft_slot *slot)
{
	unsigned int i, end = slot->insns[sft_nr_insns(slot) - 1];

	for (i = 0; i <= end; i++)
		if (!slot->data || i < slot->data || i >= slot->data + 4)
			ASSERT_EQ(slot->code[i], entry[i]);
}

static void check_slot(struct __test_metadata *_metadata, const __u8 *entry,
		       const struct sft_slot *slot, bool defer)
{
	const struct sft_call call = { entry, sft_leaf };
	struct sft_chain chain;
	unsigned int i;

	check_code(_metadata, entry, slot);
	for (i = 0; i < sft_nr_insns(slot); i++) {
		const __u8 *ip = entry + slot->insns[i];

		TH_LOG("instruction at %u", slot->insns[i]);
		ASSERT_EQ(0, sft_chain_at(ip, defer, &call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	}
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, defer, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
		     (uintptr_t)entry + slot->ret, SFT_CALLERS);
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
static const struct sfjit_row push_rows[] = {
	{ 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 5, 0, SFJIT_REG(SFJIT_X86_64_SP, 16), SFJIT_NO_RULE,
	  SFJIT_SAVED(-16) },
	{ 11, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE },
};

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
