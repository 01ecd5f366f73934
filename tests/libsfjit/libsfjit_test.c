// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines of libsfjit in a guest: the callchain at each instruction, in any
 * slot of a window, is the true stack. In text without a section the walk
 * continues by frame pointers, or ends.
 */
#include <sfjit/text.h>

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

/* Each name makes another trampoline. */
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

/*
 * The key is the start of the text. Without its window the caller is missing.
 */
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

/* Rows from a caller, in its own memory. */
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

/* ---- Text without a section ------------------------------------------- */

/* 0: push %rbp; 1: mov %rsp,%rbp; 4: call *%r9; 7: pop %rbp; 8: ret */
static const __u8 fp_code[] = {
	0x55, 0x48, 0x89, 0xe5, 0x41, 0xff, 0xd1, 0x5d, 0xc3,
};

#define FP_SIZE		sizeof(fp_code)
#define FP_RET		7

FIXTURE(text)
{
	__u8			*text;	/* calls sft_leaf */
	struct sfjit_pool	*pool;
	void			*entry;	/* calls @text */
	struct sft_call		call;
};

FIXTURE_VARIANT(text)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(text, fp) { .defer = false };
FIXTURE_VARIANT_ADD(text, defer) { .defer = true };

FIXTURE_SETUP(text)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	self->text = sft_map_code(fp_code, FP_SIZE, SFT_PAGE);
	ASSERT_NE(NULL, self->text);
	ASSERT_EQ(0, sfjit_pool_create(SFJIT_TRAMP_SLOT, &self->pool));
	ASSERT_EQ(0, sfjit_tramp_get(self->pool, self->text, NULL,
				     &self->entry));
	self->call.entry = self->entry;
	self->call.target = sft_leaf;
}

FIXTURE_TEARDOWN(text)
{
	sfjit_pool_retire(self->pool);
	munmap(self->text, SFT_PAGE);
}

#define TEXT		((uintptr_t)self->text)
#define TEXT_RET	(TEXT + FP_RET)
#define ENTRY_RET	((uintptr_t)self->entry + sft_slot_data.ret)

#define EXPECT_AT(addr, ...) do {					\
	const uintptr_t _addr = (uintptr_t)(addr);			\
	struct sft_chain _chain;					\
									\
	ASSERT_EQ(0, sft_chain_at((void *)_addr, variant->defer,	\
				  &self->call, &_chain));		\
	EXPECT_CHAIN(&_chain, _addr, ##__VA_ARGS__);			\
} while (0)

/* A window whose rows are for other bytes than the code. */
static int register_rows_behind(__u8 *text, void *section)
{
	const struct sfjit_function behind = {
		.addr = (uintptr_t)text + SFT_SLOT, .size = SFT_SLOT,
		.nr_rows = ARRAY_SIZE(push_rows), .rows = push_rows,
	};
	long len = sfjit_section_fill(section, SFT_PAGE, &behind, 1);

	if (len < 0)
		return len;
	return sfjit_register((uintptr_t)text, section, len, text, SFT_PAGE);
}

/* The window decides: with this section, stacks end in the same code. */
TEST_F(text, that_keeps_frame_pointers)
{
	void *section = sft_map(SFT_PAGE, SFT_RW);

	ASSERT_NE(NULL, section);
	ASSERT_EQ(0, register_rows_behind(self->text, section));
	EXPECT_AT(sft_leaf_body, TEXT_RET);
	EXPECT_EQ(1, sft_refused("no_fde"));

	ASSERT_EQ(0, sfjit_replace_text(TEXT, self->text, SFT_PAGE,
					SFJIT_TEXT_FP));
	munmap(section, SFT_PAGE);
	EXPECT_AT(sft_leaf_body, TEXT_RET, ENTRY_RET, SFT_CALLERS);
	EXPECT_AT(TEXT + 4, ENTRY_RET, SFT_CALLERS);
	EXPECT_AT(TEXT + 7, ENTRY_RET, SFT_CALLERS);
	EXPECT_EQ(1, sft_all_refused());
	ASSERT_EQ(2, sft_windows());
}

/* At the first and the last instructions, as the header documents. */
TEST_F(text, lacks_a_caller_where_its_frame_is_not_set_up)
{
	self->call.entry = self->text;
	ASSERT_EQ(0, sfjit_register_text(TEXT, self->text, FP_SIZE,
					 SFJIT_TEXT_FP));
	EXPECT_AT(TEXT, SFT_LOST);
	EXPECT_AT(TEXT + 1, SFT_LOST);
	EXPECT_AT(TEXT + 4, SFT_CALLERS);
	EXPECT_AT(TEXT + 7, SFT_CALLERS);
	EXPECT_AT(TEXT + 8, SFT_RETURNING);
	EXPECT_EQ(0, sft_all_refused());
}

TEST_F(text, where_stacks_end)
{
	EXPECT_AT(sft_leaf_body, TEXT_RET, ENTRY_RET, SFT_CALLERS);
	ASSERT_EQ(0, sfjit_register_text(TEXT, self->text, FP_SIZE,
					 SFJIT_TEXT_END));
	EXPECT_AT(sft_leaf_body, TEXT_RET);
	EXPECT_AT(TEXT);
	EXPECT_AT(TEXT + 4);
	/* These stacks are complete. */
	EXPECT_EQ(0, sft_all_refused());
	ASSERT_EQ(0, sfjit_unregister(TEXT));
	EXPECT_AT(sft_leaf_body, TEXT_RET, ENTRY_RET, SFT_CALLERS);
}

TEST_HARNESS_MAIN
