// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Walks that check instructions, to accept a frame on another stack and to find
 * the caller of a function without a frame.
 */
#include "harness.h"

#include "slots.h"
#include "text.h"

#define KEY_OTHER	1
#define KEY_FUNCTION	2

/* The stack of sft_run() is between these two. */
#define LOW		((void *)(1UL << 40))
#define HIGH		((void *)SFT_HIGH)
#define STACK_SIZE	(4 * SFT_PAGE)

FIXTURE(text)
{
	__u8	*section;
	__u8	*stack;
	__u64	*top;		/* end of the used part */
};

FIXTURE_VARIANT(text)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(text, fp) { .defer = false };
FIXTURE_VARIANT_ADD(text, defer) { .defer = true };

static void *map_at(void *addr)
{
	return mmap(addr, STACK_SIZE, SFT_RW, MAP_PRIVATE | MAP_ANONYMOUS |
		    MAP_FIXED_NOREPLACE, -1, 0);
}

/* A window for other code, and a stack above that of sft_run(). */
FIXTURE_SETUP(text)
{
	const struct sft_fde fde = SFT_FDE(sft_handler,
					   sft_handler_end - sft_handler,
					   sft_leaf_rows);

	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->section = sft_map(2 * SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->stack = map_at(HIGH);
	ASSERT_NE(MAP_FAILED, self->stack);
	memset(self->stack, 0, STACK_SIZE);
	self->top = (__u64 *)(self->stack + 3 * SFT_PAGE);
	ASSERT_EQ(0, sft_register(KEY_OTHER, self->section,
				  sft_build(self->section, &fde, 1), NULL));
}

FIXTURE_TEARDOWN(text)
{
	munmap(self->section, 2 * SFT_PAGE);
	munmap(self->stack, STACK_SIZE);
}

/* Guards against: truncating a stack at a switch to another one. */
TEST_F(text, frame_pointer_leads_to_a_lower_stack)
{
	const struct sft_call call = { sft_above, self->top };
	struct sft_chain chain;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, &call,
					  &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
			     (uintptr_t)sft_above_ret, SFT_CALLERS);
	}
	EXPECT_EQ(0, sft_all_refused());
}

/* Make @at look like the frame of a function that returns to @ra. */
static void put_frame(__u64 *at, const void *ra)
{
	at[0] = (uintptr_t)(at + 8);
	at[1] = (uintptr_t)ra;
}

/* Guards against: reporting words at a stray frame pointer as a frame. */
TEST_F(text, frame_pointer_leads_to_no_frame)
{
	__u64 *low = map_at(LOW);
	const struct sft_call call = { sft_strays, low };
	struct sft_chain chain;

	ASSERT_NE(MAP_FAILED, low);
	/* A function pointer, in place of a return address. */
	put_frame(low, sft_leaf);
	ASSERT_EQ(0, sft_chain_at(sft_strays_body, variant->defer, &call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_strays_body);
	EXPECT_EQ(1, sft_refused("frame_pointer"));
	EXPECT_EQ(1, sft_all_refused());
	munmap(low, STACK_SIZE);
}

/* Guards against: truncating at a switch by a row, also with the signal bit. */
TEST_F(text, row_leads_to_a_lower_stack)
{
	static const struct sft_row rows[] = {
		SFT_FLEX(0, SFT_REG_DEREF(7), 0),
	};
	struct sft_fde fde = SFT_FDE(sft_keeps, sft_keeps_end - sft_keeps, rows);
	const struct sft_call call = { sft_keeps, self->top };
	__u8 *section = self->section + SFT_PAGE;
	struct sft_chain chain;
	unsigned int i;

	fde.info2 = SFRAME_FDE_TYPE_FLEX;
	for (i = 0; i < 2; i++) {
		fde.info = i ? SFRAME_FDE_SIGNAL : 0;
		ASSERT_EQ(0, sft_register(KEY_FUNCTION, section,
					  sft_build(section, &fde, 1), NULL));
		ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, &call,
					  &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
			     (uintptr_t)sft_keeps_ret, SFT_CALLERS);
		ASSERT_EQ(0, sft_unregister(KEY_FUNCTION));
	}
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: counting a coroutine's first function as a wrong row. */
TEST_F(text, coroutine_has_no_caller)
{
	static const struct sft_row rows[] = { SFT_FRAME(0, 16) };
	const struct sft_fde fde = SFT_FDE(sft_above, sft_keeps - sft_above, rows);
	const struct sft_call call = { sft_above, self->top };
	__u8 *section = self->section + SFT_PAGE;
	struct sft_chain chain;

	/* Above sft_leaf's return address there is nothing but 0. */
	ASSERT_EQ(0, sft_register(KEY_FUNCTION, section,
				  sft_build(section, &fde, 1), NULL));
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, &call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
		     (uintptr_t)sft_above_ret);
	EXPECT_EQ(1, sft_refused("no_caller"));
}

/* Guards against: losing the caller before the frame exists, or after it. */
TEST_F(text, caller_of_a_function_at_each_instruction)
{
	const struct sft_call call = { sft_pass, NULL };
	struct sft_chain chain;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sft_leaf_insns); i++) {
		const char *ip = sft_leaf + sft_leaf_insns[i];

		TH_LOG("instruction at %u", sft_leaf_insns[i]);
		ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, (uintptr_t)sft_pass_ret,
			     SFT_CALLERS);
	}
}

/* Guards against: the same in a function that never has a frame. */
TEST_F(text, caller_of_a_leaf)
{
	const char *const ips[] = { sft_bare, sft_bare_2, sft_bare_3, sft_bare_4 };
	const struct sft_call call = { sft_direct, NULL };
	struct sft_chain chain;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ips); i++) {
		TH_LOG("instruction %u", i);
		ASSERT_EQ(0, sft_chain_at(ips[i], variant->defer, &call,
					  &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ips[i],
			     (uintptr_t)sft_direct_ret, SFT_CALLERS);
	}
}

TEST_HARNESS_MAIN
