// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Invalid sections: the walk ends at the frame they describe, the refusal is
 * counted under its reason, the window stays, and nothing else happens.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "harness.h"

#include "pool.h"

#define KEY		SFT_POOL_KEY
#define NR_SLOTS	SFT_POOL_SLOTS

FIXTURE(hostile)
{
	struct sft_pool		pool;
};

FIXTURE_VARIANT(hostile)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(hostile, fp) { .defer = false };
FIXTURE_VARIANT_ADD(hostile, defer) { .defer = true };

FIXTURE_SETUP(hostile)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	ASSERT_EQ(0, sft_pool_make(&self->pool));
}

FIXTURE_TEARDOWN(hostile)
{
	sft_pool_unmap(&self->pool);
}

/* Most addresses in a callchain. */
#define MAX_FP		127
#define MAX_DEFER	510

/* Spoils a good section, which is already registered. */
typedef void (*spoil_fn)(__u8 *sec);

/* Spoil the section while it is registered, walk, and repair it. */
static void spoil(struct __test_metadata *_metadata, struct sft_pool *pool,
		  bool defer, spoil_fn fn, const char *reason)
{
	size_t len = sft_pool_build(pool->section, pool->text);

	ASSERT_EQ(0, sft_register(KEY, pool->section, len, NULL));
	sft_pool_good(_metadata, &pool->call, defer);
	fn(pool->section);
	sft_pool_refused(_metadata, &pool->call, defer, reason);
	sft_pool_build(pool->section, pool->text);
	sft_pool_good(_metadata, &pool->call, defer);
	EXPECT_EQ(1, sft_pool_windows());
	EXPECT_EQ(0, sft_unregister(KEY));
}

/* Each case runs in a new process, so that counters start at 0. */
#define SPOIL(name, reason)						\
	static void spoil_##name(__u8 *sec);				\
	TEST_F(hostile, name)						\
	{								\
		spoil(_metadata, &self->pool, variant->defer,		\
		      spoil_##name, reason);				\
	}								\
	static void spoil_##name(__u8 *sec)

/* ---- The index -------------------------------------------------------- */

/* Swap two entries; each start is relative to its field. */
static void swap_fdes(__u8 *sec, unsigned int a, unsigned int b)
{
	struct sframe_fde *fa = sft_index(sec, a), *fb = sft_index(sec, b);
	struct sframe_fde tmp = *fa;
	__s64 distance = (uintptr_t)fb - (uintptr_t)fa;

	*fa = *fb;
	*fb = tmp;
	fa->func_start += distance;
	fb->func_start -= distance;
}

/* Guards against: entries out of order, which earlier series accepted. */
SPOIL(index_not_sorted, "fde_order")
{
	sft_index(sec, 2)->func_start -= 8 * SFT_SLOT;
}

/* Guards against: order that is only checked between neighbours. */
SPOIL(index_first_and_last_swapped, "fde_order")
{
	swap_fdes(sec, 0, 2);
}

/* Guards against: a function that begins before the window's text. */
SPOIL(function_before_the_window, "fde_range")
{
	sft_index(sec, 0)->func_start -= SFT_SLOT;
	sft_index(sec, 1)->func_start -= 2 * SFT_SLOT;
	sft_index(sec, 1)->func_size = 4 * SFT_SLOT;
}

/* Guards against: a function that ends after the window's text. */
SPOIL(function_behind_the_window, "fde_range")
{
	sft_index(sec, 1)->func_size = 2 * SFT_SLOT + 1;
}

/* Guards against: sizes whose sum with the start wraps. */
SPOIL(function_of_4_gib, "fde_range")
{
	sft_index(sec, 1)->func_size = UINT32_MAX;
}

/* Guards against: an empty function that covers its first byte. */
SPOIL(function_taken_back, "no_fde")
{
	sft_index(sec, 1)->func_size = 0;
}

/* Guards against: rows used past the end of their function. */
SPOIL(function_too_short, "no_fde")
{
	sft_index(sec, 1)->func_size = SFT_POOL_CALL;
}

/* Guards against: a search that returns the first FDE if all are higher. */
SPOIL(all_functions_behind, "no_fde")
{
	sft_index(sec, 0)->func_start += 4 * SFT_SLOT;
	sft_index(sec, 1)->func_start += 4 * SFT_SLOT;
	sft_index(sec, 2)->func_start += 4 * SFT_SLOT;
}

/* ---- Attributes of a function ----------------------------------------- */

/* Guards against: a shift by an unchecked number from user space. */
SPOIL(start_size_3, "fde_type")
{
	sft_attr(sec, 1)->info = 3;
}

/* Guards against: the same, with the largest value. */
SPOIL(start_size_15, "fde_type")
{
	sft_attr(sec, 1)->info = 15;
}

/* Guards against: ignoring bits that may change what rows mean. */
SPOIL(reserved_info, "fde_type")
{
	sft_attr(sec, 1)->info = SFRAME_FDE_RESERVED;
}

#ifndef SFT_SIGNED
/* Guards against: accepting the key of signed addresses on this machine. */
SPOIL(key_of_return_addresses, "fde_type")
{
	sft_attr(sec, 1)->info = SFRAME_FDE_PAUTH_KEY_B;
}
#endif

/* Guards against: unknown types taken for known ones. */
SPOIL(function_type_2, "fde_type")
{
	sft_attr(sec, 1)->info2 = 2;
}

/* Guards against: the same, with the largest value. */
SPOIL(function_type_31, "fde_type")
{
	sft_attr(sec, 1)->info2 = 31;
}

/* Guards against: ignoring bits that may change what rows mean. */
SPOIL(reserved_info2, "fde_type")
{
	sft_attr(sec, 1)->info2 = 0x20;
}

/* Guards against: a division by 0, as in earlier series: #DE. */
SPOIL(block_size_0, "rep_size")
{
	sft_attr(sec, 1)->info = SFRAME_FDE_PCMASK;
}

/* Guards against: loading registers from a stack without a signal frame. */
SPOIL(signal_frame, SFT_NO_SIGNAL)
{
	sft_attr(sec, 1)->info = SFRAME_FDE_SIGNAL;
	sft_attr(sec, 1)->num_fres = 0;
}

/* ---- Where the rows are ----------------------------------------------- */

/* Guards against: reading rows that begin at the end of the section. */
SPOIL(rows_behind_the_area, "fre_offset")
{
	sft_index(sec, 1)->fre_off = SFT_POOL_ROWS;
}

/* Guards against: an offset whose sum with the start wraps. */
SPOIL(rows_far_behind, "fre_offset")
{
	sft_index(sec, 1)->fre_off = UINT32_MAX;
}

/* Guards against: checking only the first byte of the attributes. */
SPOIL(attributes_leave_the_area, "fre_offset")
{
	sft_index(sec, 1)->fre_off = SFT_POOL_ROWS - 4;
}

/* Guards against: checking only the start of rows, as in earlier series. */
SPOIL(start_leaves_the_area, "fre_offset")
{
	sft_index(sec, 1)->fre_off = SFT_POOL_ROWS - 5;
	memcpy(sft_attr(sec, 1), &(struct sframe_fde_attr){ .num_fres = 1 }, 5);
}

/* Guards against: reading data words past the end of the section. */
SPOIL(words_leave_the_area, "fre_offset")
{
	sft_index(sec, 1)->fre_off = sft_index(sec, 2)->fre_off;
	sft_attr(sec, 2)->num_fres = 1;
	sft_row_bytes(sec, 2)[1] = 1 | 6 << 1 | SFT_WORD4;
}

/* Guards against: trusting the number of rows. */
SPOIL(too_many_rows_for_the_area, "fre_offset")
{
	sft_index(sec, 1)->fre_off = sft_index(sec, 2)->fre_off;
	sft_pool_row(sec, 2, 1)[0] = 3;
	sft_pool_row(sec, 2, 2)[0] = 4;
	sft_attr(sec, 2)->num_fres = 4;
}

/* Guards against: reading a row of a function that has none. */
SPOIL(no_rows, "no_row")
{
	sft_attr(sec, 1)->num_fres = 0;
}

/* Guards against: using the first row below its start. */
SPOIL(first_row_starts_later, "no_row")
{
	sft_pool_row(sec, 1, 0)[0] = SFT_POOL_RET + 1;
	sft_pool_row(sec, 1, 1)[0] = SFT_POOL_RET + 2;
}

/* ---- Rows -------------------------------------------------------------- */

#define ROW(n, byte)	sft_pool_row(sec, 1, n)[byte]
#define INFO(words)	(1 | (words) << 1)

/* Guards against: using either of two rows with the same start. */
SPOIL(rows_at_one_address, "row_order")
{
	ROW(1, 0) = 0;
}

/* Guards against: a search in unsorted rows that loops, or takes any row. */
SPOIL(rows_go_back, "row_order")
{
	ROW(0, 0) = 4;
	ROW(1, 0) = 3;
}

/* Guards against: a shift by 3: words of 8 bytes. */
SPOIL(words_of_no_size, "row_words")
{
	ROW(1, 1) |= 3 << 5;
}

/* Guards against: libsframe's overflow: 15 words in an array of six. */
SPOIL(fifteen_words, "row_words")
{
	ROW(1, 1) = INFO(15) | SFT_WORD4;
}

/* Guards against: one word more than there is room for. */
SPOIL(eight_words, "row_words")
{
	ROW(1, 1) = INFO(8);
}

/* Guards against: more words than rows of this architecture can have. */
SPOIL(too_many_words_without_flex, "row_words")
{
	sft_attr(sec, 1)->num_fres = 2;
	ROW(1, 1) = INFO(SFT_ROW_WORDS + 1);
}

#ifndef SFT_SIGNED
/* Guards against: accepting signed addresses on this machine. */
SPOIL(mangled_return_address, "row_rule")
{
	ROW(1, 1) |= 0x80;
}
#endif

/* Guards against: a CFA below the stack pointer, which can make a loop. */
SPOIL(cfa_below_the_stack, "cfa_order")
{
	ROW(1, 2) = SFT_SP_CFA(-8);
}

#if SFT_CFA_SCALE == 1
/* Guards against: a CFA that is not aligned. */
SPOIL(cfa_not_aligned, "cfa_align")
{
	ROW(1, 2) = 17;
}
#endif

/* ---- Rows of the FLEX type -------------------------------------------- */

struct flex_case {
	const char	*what;
	struct sft_row	row;
	const char	*reason;
};

#define REG_SP		SFT_REG(SFT_REGNUM_SP)
/* Two registers that do not exist, and the word size that they need. */
#define REG_NONE	SFT_REG(SFT_REGNUM_NONE)
#define REG_NONE_2	SFT_REG(SFT_REGNUM_NONE | 15)
#define NONE_WORDS	(SFT_REGNUM_NONE < 32 ? SFT_WORD1 : SFT_WORD2)
/* The largest offset of a CFA. */
#define FAR_OFF		(INT32_MAX & -SFT_CFA_SCALE)

static const struct flex_case flex_cases[] = {
	{ "one word", SFT_FLEX(0, REG_SP), "row_words" },
	{ "three words", SFT_FLEX(0, REG_SP, 16, 0), "row_words" },
	{ "seven words", SFT_FLEX(0, REG_SP, 16, SFT_CFA_DEREF, -8, SFT_CFA_DEREF,
				  -16, 0), "row_words" },
	{ "padding is not 0", SFT_FLEX(0, REG_SP, 16, 2, SFT_CFA_DEREF, -16),
	  "row_words" },
	{ "cfa from the cfa", SFT_FLEX(0, 0, 16), "row_rule" },
	{ "cfa from the cfa in memory", SFT_FLEX(0, SFT_CFA_DEREF, 16),
	  "row_rule" },
	{ "reserved bit", SFT_FLEX(0, REG_SP | 4, 16), "row_rule" },
	{ "reserved bit of ra", SFT_FLEX(0, REG_SP, 16, SFT_CFA_DEREF | 4, -8),
	  "row_rule" },
	{ "ra is an address of the stack", SFT_FLEX(0, REG_SP, 16, 0, -8),
	  "row_rule" },
	{ "no register", { 0, NONE_WORDS, 2, { REG_NONE, 16 } },
	  "row_register" },
	{ "no register, another number", { 0, NONE_WORDS, 2, { REG_NONE_2, 16 } },
	  "row_register" },
	{ "no register for fp",
	  { 0, NONE_WORDS, 5, { REG_SP, 16, 0, REG_NONE, 16 } },
	  "row_register" },
	{ "register 0x2007 in 2 bytes",
	  { 0, SFT_WORD2, 2, { (__s16)(0x1fff << 3 | 1), 16 } },
	  "row_register" },
	/* gas emitted this number for registers that it did not know. */
	{ "register 0x1fffffff",
	  { 0, SFT_WORD4, 2, { (__s32)0xfffffff9, 16 } },
	  "row_register" },
	{ "register 0x10007", { 0, SFT_WORD4, 2, { 0x10007 << 3 | 1, 16 } },
	  "row_register" },
	{ "cfa wraps", { 0, SFT_WORD4, 2, { REG_SP, INT32_MIN / SFT_CFA_SCALE } },
	  "cfa_order" },
	{ "cfa from memory that is not there",
	  { 0, SFT_WORD4, 2,
	    { SFT_REG_DEREF(SFT_REGNUM_SP), SFT_CFA(FAR_OFF) } },
	  "stack_fault" },
	{ "stack that is not there",
	  { 0, SFT_WORD4, SFT_RA_OFF ? 2 : 4,
	    { REG_SP, SFT_CFA(0x7ffffff8), SFT_CFA_DEREF, -8 } },
	  "stack_fault" },
	{ "fp that is not there",
	  { 0, SFT_WORD4, 5, { REG_SP, 16, 0, SFT_CFA_DEREF, 0x7ffffff8 } },
	  "stack_fault" },
};

/* Guards against: accepting unknown registers or invalid pairs of words. */
TEST_F(hostile, flex_rows)
{
	const __u8 *text = self->pool.text + SFT_SLOT;
	const __u8 *ip = text + SFT_POOL_CALL;
	struct sft_stats before, after;
	struct sft_chain chain;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flex_cases); i++) {
		const struct flex_case *c = &flex_cases[i];
		const struct sft_fde fde = {
			.start = text, .size = SFT_SLOT, .rows = &c->row,
			.nr_rows = 1, .info2 = SFRAME_FDE_TYPE_FLEX,
		};
		size_t len = sft_build(self->pool.section, &fde, 1);

		TH_LOG("%s", c->what);
		ASSERT_EQ(0, sft_register(KEY, self->pool.section, len, NULL));
		ASSERT_EQ(0, sft_stats(&before));
		ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &self->pool.call,
					  &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip);
		ASSERT_EQ(0, sft_stats(&after));
		EXPECT_STREQ(c->reason, after.last_reason);
		EXPECT_EQ((uintptr_t)ip, after.last_ip);
		EXPECT_TRUE(sft_only_for(&before, &after, c->reason, 1));
		ASSERT_EQ(0, sft_unregister(KEY));
	}
}

/* Guards against: a caller with the same stack pointer: a loop. */
TEST_F(hostile, cfa_stands_still)
{
	const struct sft_row row = SFT_SP(0, SFT_SP_CFA(0));
	const struct sft_fde fde = {
		.start = self->pool.text + SFT_SLOT, .size = SFT_SLOT,
		.rows = &row, .nr_rows = 1,
	};
	size_t len = sft_build(self->pool.section, &fde, 1);
	struct sft_chain chain;

	ASSERT_EQ(0, sft_register(KEY, self->pool.section, len, NULL));
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, &self->pool.call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
		     (uintptr_t)self->pool.text + SFT_SLOT + SFT_POOL_RET);
	EXPECT_EQ(1, sft_refused("cfa_order"));
}

/* ---- Rows that lead anywhere ------------------------------------------ */

#define REG_TARGET	SFT_REG_DEREF(SFT_REGNUM_TARGET)

/* A ret instruction in a window with one FLEX row; tests set the target. */
static const __u8 *make_ret(struct sft_pool *pool, const struct sft_row *row)
{
	const __u8 *text = sft_map_code(sft_ret_code, sizeof(sft_ret_code),
					SFT_PAGE);
	const struct sft_fde fde = {
		.start = text, .size = 1, .rows = row, .nr_rows = 1,
		.info2 = SFRAME_FDE_TYPE_FLEX,
	};
	size_t len = sft_build(pool->section, &fde, 1);

	pool->call.entry = text;
	return sft_register(KEY, pool->section, len, NULL) ? NULL : text;
}

/* Addresses that user space cannot read. */
static const unsigned long nowhere[] = {
	0, 1, 4088, 1UL << 47, 1UL << 63, 0x7ffffffff000 - 7, 0x7ffffffffffc,
	0xdead000000000000, 0xffff800000000000, 0xffff888000000000,
	0xffffffff81000000, 0xffffffffff600000, -8UL, -1UL,
};

static const struct {
	const char	*what;
	struct sft_row	row;
} anywhere[] = {
	{ "cfa", SFT_FLEX(0, REG_TARGET, SFT_CFA(0)) },
	{ "return address", SFT_FLEX(0, REG_SP, SFT_SP_CFA(8), REG_TARGET, 0) },
	{ "frame pointer",
	  SFT_FLEX(0, REG_SP, SFT_SP_CFA(8), 0, REG_TARGET, 0) },
};

/* Guards against: a row that reads kernel memory, or faults there. */
TEST_F(hostile, flex_rows_read_nothing_of_the_kernel)
{
	unsigned int i, j, count = 0;
	struct sft_chain chain;

	for (i = 0; i < ARRAY_SIZE(anywhere); i++) {
		const __u8 *text = make_ret(&self->pool, &anywhere[i].row);

		ASSERT_NE(NULL, text);
		for (j = 0; j < ARRAY_SIZE(nowhere); j++) {
			TH_LOG("%s at %lx", anywhere[i].what, nowhere[j]);
			self->pool.call.target = (void *)nowhere[j];
			ASSERT_EQ(0, sft_chain_at(text, variant->defer,
						  &self->pool.call, &chain));
			EXPECT_CHAIN(&chain, (uintptr_t)text);
			EXPECT_EQ(++count, sft_refused("stack_fault"));
		}
		ASSERT_EQ(0, sft_unregister(KEY));
	}
}

/* Guards against: loading a CFA that goes down, or to an invalid address. */
TEST_F(hostile, cfa_is_loaded)
{
	/* The caller's stack pointer, and the reason to refuse it. */
	static const struct {
		__u64		cfa;
		const char	*reason;
	} words[] = {
		{ 0, "cfa_order" },
		{ 0x800, "cfa_order" },
		{ SFT_USER_END_SMALL, "stack_fault" },
		{ SFT_USER_END_SMALL + 1, "cfa_align" },
		{ 0xffff888000000008, "stack_fault" },
		{ -8UL, "stack_fault" },
		{ -1UL, "cfa_align" },
	};
	/* Loads the CFA from the word. */
	static const struct sft_row row = {
		0, SFT_WORD2, SFT_RA_OFF ? 2 : 4,
		{ REG_TARGET, SFT_CFA(0), SFT_CFA_DEREF, SFT_RA_FROM_CFA },
	};
	const __u8 *text = make_ret(&self->pool, &row);
	struct sft_stats stats;
	struct sft_chain chain;
	unsigned int i;
	static __u64 word;

	ASSERT_NE(NULL, text);
	self->pool.call.target = &word;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		TH_LOG("cfa %llx", words[i].cfa);
		word = words[i].cfa + SFT_SAVE_AREA;
		ASSERT_EQ(0, sft_chain_at(text, variant->defer,
					  &self->pool.call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)text);
		ASSERT_EQ(0, sft_stats(&stats));
		EXPECT_STREQ(words[i].reason, stats.last_reason);
	}
}

/* Offsets of the first frame on sft_onto's stack, and of one above. */
#define FIRST_SP	(256 + SFT_ONTO_SP)
#define SECOND_SP	(FIRST_SP + 512)

static void put_word(__u8 *stack, int offset, __u64 word)
{
	memcpy(stack + offset, &word, sizeof(word));
}

/* The address in the first slot that sft_onto returns to. */
static __u64 loop_ip(const struct sft_pool *pool)
{
	return (uintptr_t)pool->text + SFT_POOL_RET;
}

/* A stack for sft_onto, and a window with this row for the first slot. */
static __u8 *make_loop(struct sft_pool *pool, const struct sft_row *row,
		       bool flex)
{
	const struct sft_fde fde = {
		.start = pool->text, .size = SFT_SLOT, .rows = row,
		.nr_rows = 1, .info2 = flex,
	};
	size_t len = sft_build(pool->section, &fde, 1);
	__u8 *stack = sft_map(4 * SFT_PAGE, SFT_RW);

	if (!stack || sft_register(KEY, pool->section, len, NULL))
		return NULL;
	pool->call.entry = sft_onto;
	pool->call.target = stack + FIRST_SP - SFT_ONTO_SP;
	put_word(stack, FIRST_SP - SFT_ONTO_SP, loop_ip(pool));
	return stack;
}

/* The CFA to store so that the caller's stack pointer is at @offset. */
static __u64 sp_at(const __u8 *stack, int offset)
{
	return (uintptr_t)stack + offset + SFT_SAVE_AREA;
}

/* Guards against: a loop of frames that load each other's CFA. */
TEST_F(hostile, loaded_cfa_makes_a_loop)
{
	/* The CFA is the word at sp + 8. */
	static const struct sft_row row = {
		0, SFT_WORD2, SFT_RA_OFF ? 2 : 4,
		{ SFT_REG_DEREF(SFT_REGNUM_SP), SFT_CFA(8), SFT_CFA_DEREF,
		  SFT_RA_FROM_CFA },
	};
	static const int loops[] = { SECOND_SP, FIRST_SP, FIRST_SP - 64 };
	__u8 *stack = make_loop(&self->pool, &row, true);
	const __u64 ip = loop_ip(&self->pool);
	struct sft_chain chain;
	unsigned int i;

	ASSERT_NE(NULL, stack);
	/* Up once, then to itself, to the first one, and below both. */
	put_word(stack, FIRST_SP + 8, sp_at(stack, SECOND_SP));
	put_word(stack, SECOND_SP + SFT_RA_FROM_SP, ip);
	for (i = 0; i < ARRAY_SIZE(loops); i++) {
		put_word(stack, SECOND_SP + 8, sp_at(stack, loops[i]));
		ASSERT_EQ(0, sft_chain_at(sft_escape_body, variant->defer,
					  &self->pool.call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)sft_escape_body, ip, ip);
		EXPECT_EQ(i + 1, sft_refused("cfa_order"));
	}
}

/* Guards against: a walk without a limit, through a stack of one address. */
TEST_F(hostile, return_address_makes_a_loop)
{
	static const struct sft_row row = SFT_FRAME(0, SFT_TINY_FRAME);
	__u8 *stack = make_loop(&self->pool, &row, false);
	const __u64 ip = loop_ip(&self->pool);
	struct sft_chain chain;
	unsigned int i;

	ASSERT_NE(NULL, stack);
	for (i = FIRST_SP - SFT_ONTO_SP; i < 4 * SFT_PAGE; i += 8)
		put_word(stack, i, ip);
	ASSERT_EQ(0, sft_chain_at(sft_escape_body, variant->defer,
				  &self->pool.call, &chain));
	EXPECT_EQ(variant->defer ? MAX_DEFER : MAX_FP, chain.nr);
	for (i = 1; i < chain.nr; i++)
		EXPECT_EQ(ip, chain.ip[i]);
	EXPECT_EQ(1, sft_pool_windows());
}

/* Guards against: refusing a block that is larger than its function. */
TEST_F(hostile, block_size_larger_than_the_slot)
{
	struct sft_pool *pool = &self->pool;
	size_t len = sft_pool_build(pool->section, pool->text);
	unsigned int size;

	ASSERT_EQ(0, sft_register(KEY, pool->section, len, NULL));
	sft_attr(pool->section, 1)->info = SFRAME_FDE_PCMASK;
	for (size = SFT_SLOT; size <= 255; size += 255 - SFT_SLOT) {
		sft_attr(pool->section, 1)->rep_size = size;
		sft_pool_good(_metadata, &pool->call, variant->defer);
	}
	/* Now the rows repeat at the call, which has the row of the entry. */
	sft_attr(pool->section, 1)->rep_size = SFT_POOL_CALL;
	sft_row_bytes(pool->section, 1)[2] = SFT_SP_CFA(-8);
	sft_pool_refused(_metadata, &pool->call, variant->defer,
			 "cfa_order");
}

/* ---- Sections that change ---------------------------------------------- */

/* Guards against: a header that is read again, unchecked. */
TEST_F(hostile, header_changes_after_registration)
{
	size_t len = sft_pool_build(self->pool.section, self->pool.text);
	unsigned int i;

	ASSERT_EQ(0, sft_register(KEY, self->pool.section, len, NULL));
	for (i = 0; i < 256; i += 255) {
		memset(self->pool.section, i, sizeof(struct sframe_header));
		sft_pool_good(_metadata, &self->pool.call, variant->defer);
		sft_pool_build(self->pool.section, self->pool.text);
	}
}

/* Guards against: reading rows past the length in the header. */
TEST_F(hostile, area_ends_before_the_section)
{
	size_t len = sft_pool_build(self->pool.section, self->pool.text);
	struct sframe_header *header = sft_header(self->pool.section);

	/* Cuts the words of the second row of the second slot. */
	header->fre_len = SFT_SLOT_ARG_LEN + 5 + 3 + 2;
	ASSERT_EQ(0, sft_register(KEY, self->pool.section, len, NULL));
	sft_pool_refused(_metadata, &self->pool.call, variant->defer,
			 "fre_offset");
}

/* ---- Work ------------------------------------------------------------- */

/* Frames at different addresses of a function, whose row 0 ends the stack. */
#define DEPTH		400
#define DEEP_FIRST	256
#define DEEP_SIZE	(DEEP_FIRST + 2 * DEPTH)

/*
 * Reads that a walk may make: 37 for each possible frame, and if it is deferred
 * those of the longest function; fewer than 64 more until the budget is checked.
 */
#define BUDGET_FP	(MAX_FP * 37)
#define BUDGET_DEFER	(MAX_DEFER * 37 + 65535)
#define BUDGET_INTERVAL	64

#define MAX_DEEP_FDES	10000
#define MAX_DEEP_ROWS	250

/* A lookup reads all @nr_rows rows; most have words of 4 bytes. */
static size_t build_deep(__u8 *section, const __u8 *text, unsigned int nr_fdes,
			 unsigned int nr_rows)
{
	static const struct sft_row empty[] = { SFT_SP(0, 8) };
	static struct sft_fde fdes[MAX_DEEP_FDES];
	static struct sft_row rows[MAX_DEEP_ROWS];
	unsigned int i;

	rows[0] = (struct sft_row)SFT_OUTERMOST(0);
	for (i = 1; i < nr_rows; i++) {
		rows[i] = (struct sft_row)SFT_FRAME(i, SFT_TINY_FRAME);
		rows[i].info |= SFT_WORD4;
	}
	/* Empty functions before it lengthen the search. */
	for (i = 0; i < nr_fdes - 1; i++)
		fdes[i] = (struct sft_fde)SFT_FDE(text, 0, empty);
	fdes[i] = (struct sft_fde)SFT_FDE(text, DEEP_SIZE, rows);
	fdes[i].nr_rows = nr_rows;
	return sft_build(section, fdes, nr_fdes);
}

/* Walk a stack of distinct return addresses. */
static void walk_deep(struct __test_metadata *_metadata, unsigned int nr_fdes,
		      unsigned int nr_rows, bool defer,
		      struct sft_chain *chain)
{
	__u8 *text = sft_map_code("\xcc", 1, SFT_PAGE);
	__u8 *section = sft_map(64 * SFT_PAGE, SFT_RW);
	__u8 *stack = sft_map(4 * SFT_PAGE, SFT_RW);
	struct sft_call call = { sft_onto, stack + FIRST_SP - SFT_ONTO_SP };
	__u64 ip[DEPTH + 2] = { (uintptr_t)sft_escape_body };
	unsigned int i;
	size_t len;

	ASSERT_NE(NULL, text);
	ASSERT_NE(NULL, section);
	ASSERT_NE(NULL, stack);
	for (i = 1; i <= DEPTH; i++)
		ip[i] = (uintptr_t)text + DEEP_FIRST + 2 * i;
	ip[i] = (uintptr_t)text + 1;
	put_word(stack, FIRST_SP - SFT_ONTO_SP, ip[1]);
	for (i = 2; i < ARRAY_SIZE(ip); i++)
		put_word(stack, FIRST_SP + (i - 1) * SFT_TINY_FRAME +
			 SFT_RA_FROM_SP, ip[i]);
	len = build_deep(section, text, nr_fdes, nr_rows);
	ASSERT_GE(64 * SFT_PAGE, len);
	ASSERT_EQ(0, sft_register(KEY, section, len, NULL));
	ASSERT_EQ(0, sft_chain_at(sft_escape_body, defer, &call, chain));
	ASSERT_GE(ARRAY_SIZE(ip), chain->nr);
	EXPECT_EQ(0, memcmp(chain->ip, ip, chain->nr * sizeof(*ip)));
}

/* Guards against: a table that makes a sample take arbitrarily long. */
TEST_F(hostile, work_of_a_walk_is_limited)
{
	const unsigned int budget = variant->defer ? BUDGET_DEFER : BUDGET_FP;
	/* Reads of a step: the rows, plus up to 12 probes and 8 others. */
	const unsigned int least = variant->defer ? MAX_DEEP_ROWS : 61;
	const unsigned int most = least + 12 + 8;
	struct sft_chain chain;

	walk_deep(_metadata, 4096, least, variant->defer, &chain);
	EXPECT_EQ(1, sft_refused("budget"));
	EXPECT_LE(budget / most, chain.nr - 1);
	EXPECT_GE((budget + BUDGET_INTERVAL) / least, chain.nr - 1);
	EXPECT_EQ(1, sft_pool_windows());
}

/* Guards against: a limit that truncates stacks of real programs. */
TEST_F(hostile, legal_walks_are_not_limited)
{
	struct sft_chain chain;

	walk_deep(_metadata, 10000, 16, variant->defer, &chain);
	EXPECT_EQ(0, sft_refused("budget"));
	EXPECT_EQ(variant->defer ? DEPTH + 2 : MAX_FP, chain.nr);
}

/* ---- Time -------------------------------------------------------------- */

/* Microseconds of a walk in the context of a sample. */
#define WALK_US		"/proc/sys/kernel/sframe_walk_us"

FIXTURE(time)
{
	struct sft_pool		pool;
	char			before[16];
};

FIXTURE_VARIANT(time)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(time, fp) { .defer = false };
FIXTURE_VARIANT_ADD(time, defer) { .defer = true };

FIXTURE_SETUP(time)
{
	FILE *file = fopen(WALK_US, "r");
	bool found = file && fgets(self->before, sizeof(self->before), file);

	if (file)
		fclose(file);
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	if (!found || sft_write_text(WALK_US, self->before))
		SKIP(return, "cannot set " WALK_US);
	ASSERT_EQ(0, sft_pool_make(&self->pool));
}

FIXTURE_TEARDOWN(time)
{
	EXPECT_EQ(0, sft_write_text(WALK_US, self->before));
	sft_pool_unmap(&self->pool);
}

/* Guards against: a walk in a sample that ignores its deadline. */
TEST_F(time, of_a_walk_is_limited)
{
	struct sft_chain chain;

	ASSERT_EQ(0, sft_write_text(WALK_US, "1"));
	walk_deep(_metadata, 10000, 16, variant->defer, &chain);
	EXPECT_EQ(!variant->defer, sft_refused("deadline"));
	EXPECT_EQ(!variant->defer, sft_all_refused());
	/* Deferred walks have no deadline. */
	EXPECT_TRUE(variant->defer ? chain.nr == DEPTH + 2 : chain.nr < MAX_FP);
	EXPECT_EQ(1, sft_pool_windows());
}

/* Guards against: a limit of 0, and one too large to limit anything. */
TEST_F(time, has_a_range)
{
	EXPECT_EQ(-EINVAL, sft_write_text(WALK_US, "0"));
	EXPECT_EQ(-EINVAL, sft_write_text(WALK_US, "1000001"));
	EXPECT_EQ(0, sft_write_text(WALK_US, "1000000"));
}

/* ---- Races ------------------------------------------------------------ */

#define NR_WALKS	300
/* Walk at most this often until each required stack was seen. */
#define MOST_WALKS	(100 * NR_WALKS)

struct race {
	__u8		*section;
	size_t		len;
	const __u8	*text;
	bool		stop;
};

/* Stacks that walks saw: complete, without windows, truncated, wrong. */
enum { TRUE_STACK, LOST_STACK, CUT_STACK, WRONG_STACK, NR_STACKS };

static unsigned int classify(const struct sft_chain *chain, __u64 ip)
{
	if (sft_chain_is(chain, SFT_LIST(ip, SFT_CALLERS), 2))
		return TRUE_STACK;
	/* Without a chain of frames, a lost stack looks like a cut one. */
	if (sft_chain_is(chain, &ip, 1))
		return CUT_STACK;
	return sft_chain_is(chain, SFT_LIST(ip, SFT_LOST), 2) ? LOST_STACK :
								WRONG_STACK;
}

/*
 * Walk repeatedly while @thread_fn changes the window, until a stack of the
 * kind @seldom was seen.
 */
static void run_race(struct __test_metadata *_metadata, struct race *race,
		     void *(*thread_fn)(void *), const struct sft_call *call,
		     bool defer, unsigned int *seen, unsigned int seldom)
{
	const __u64 ip = sft_pool_ip(call);
	struct sft_chain chain;
	pthread_t thread;
	unsigned int i;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_fn, race));
	for (i = 0; i < NR_WALKS || (i < MOST_WALKS &&
				     (!seen[TRUE_STACK] || !seen[seldom]));
	     i++) {
		ASSERT_EQ(0, sft_chain_at((void *)ip, defer, call, &chain));
		seen[classify(&chain, ip)]++;
	}
	__atomic_store_n(&race->stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	TH_LOG("with window %u, without %u, cut off %u", seen[TRUE_STACK],
	       seen[LOST_STACK], seen[CUT_STACK]);
}

/* Make a row wrong, but valid. */
static void poison(__u8 *section)
{
	sft_pool_row(section, 1, 1)[2] = SFT_CFA(SFT_SLOT_ARG_WRONG);
}

/* The bytes of the section are wrong whenever it is not registered. */
static void *register_and_unregister(void *arg)
{
	struct race *race = arg;
	__u8 *copy = race->section + SFT_PAGE;
	unsigned int rounds = 0;

	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED)) {
		memcpy(race->section, copy, race->len);
		if (sft_register(KEY, race->section, race->len, NULL))
			return (void *)1;
		if (rounds++ % 3 == 0)
			sched_yield();
		if (sft_unregister(KEY))
			return (void *)2;
		poison(race->section);
	}
	return NULL;
}

/*
 * Guards against: a frame from bytes that were reused right after UNREGISTER.
 * Earlier series allowed that until readers were done.
 */
TEST_F(hostile, walks_while_the_window_comes_and_goes)
{
	const unsigned int without = SFT_LOST_ENDS ? CUT_STACK : LOST_STACK;
	struct race race = {
		.section = self->pool.section, .text = self->pool.text,
	};
	unsigned int seen[NR_STACKS] = { 0 };

	race.len = sft_pool_build(race.section, race.text);
	memcpy(race.section + SFT_PAGE, race.section, race.len);
	run_race(_metadata, &race, register_and_unregister, &self->pool.call,
		 variant->defer, seen, without);
	EXPECT_EQ(0, seen[WRONG_STACK]);
	EXPECT_LT(0, seen[TRUE_STACK]);
	EXPECT_LT(0, seen[without]);
}

/* Alternate between two sections; spoil the replaced one at once. */
static void *replace_again_and_again(void *arg)
{
	struct race *race = arg;
	__u8 *sections[] = { race->section, race->section + SFT_PAGE };
	unsigned int i;

	for (i = 0; !__atomic_load_n(&race->stop, __ATOMIC_RELAXED); i++) {
		__u8 *next = sections[i % 2], *old = sections[(i + 1) % 2];

		sft_pool_build(next, race->text);
		if (sft_register_text(KEY, next, race->len, race->text,
				      NR_SLOTS * SFT_SLOT,
				      SFRAME_WINDOW_REPLACE))
			return (void *)1;
		poison(old);
		/* A walk ends if this happens twice in one step. */
		if (i % 3 == 0)
			usleep(50);
	}
	return NULL;
}

/* Guards against: a moment without a window, or a frame from old bytes. */
TEST_F(hostile, walks_while_the_window_is_replaced)
{
	struct race race = {
		.section = self->pool.section, .text = self->pool.text,
	};
	unsigned int seen[NR_STACKS] = { 0 };

	race.len = sft_pool_build(race.section + SFT_PAGE, race.text);
	ASSERT_EQ(0, sft_register(KEY, race.section + SFT_PAGE, race.len,
				  NULL));
	run_race(_metadata, &race, replace_again_and_again, &self->pool.call,
		 variant->defer, seen, TRUE_STACK);
	EXPECT_EQ(0, seen[WRONG_STACK]);
	EXPECT_EQ(0, seen[LOST_STACK]);
	EXPECT_EQ(seen[CUT_STACK], sft_refused("changed"));
	EXPECT_GT(NR_WALKS / 2, seen[CUT_STACK]);
}

TEST_HARNESS_MAIN
