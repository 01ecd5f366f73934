/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A window of three trampolines whose section a test corrupts: the walk must
 * end at the trampoline, for one reason, and nothing else may happen. Include
 * it after harness.h.
 */
#ifndef SFRAME_POOL_H
#define SFRAME_POOL_H

#include "slots.h"

#define SFT_POOL_KEY		1
#define SFT_POOL_SLOTS		3
#define SFT_POOL_TEXT		(4 * SFT_PAGE)
#define SFT_POOL_SECTION	(16 * SFT_PAGE)
/* Header, index, and for each slot attributes and three rows. */
#define SFT_POOL_LEN		(28 + 3 * 16 + SFT_POOL_ROWS)
/* Bytes of all attributes and rows. */
#define SFT_POOL_ROWS		(3 * SFT_SLOT_ARG_LEN)

/* Instructions of a slot: its call, and the one after it. */
#define SFT_POOL_CALL		(sft_slot_arg.insns[2])
#define SFT_POOL_RET		(sft_slot_arg.ret)

/**
 * struct sft_pool - the trampolines
 * @text:	three of them
 * @section:	memory for sections
 * @call:	runs the one in the middle, which calls sft_leaf
 */
struct sft_pool {
	__u8		*text;
	__u8		*section;
	struct sft_call	call;
};

static inline __u8 *sft_pool_text(void)
{
	__u8 code[SFT_POOL_SLOTS * SFT_SLOT];
	unsigned int i;

	for (i = 0; i < SFT_POOL_SLOTS; i++)
		memcpy(code + i * SFT_SLOT, sft_slot_arg.code, SFT_SLOT);
	return sft_map_code(code, sizeof(code), SFT_POOL_TEXT);
}

static inline int sft_pool_map(struct sft_pool *pool)
{
	pool->text = sft_pool_text();
	pool->section = sft_map(SFT_POOL_SECTION, SFT_RW);
	if (!pool->text || !pool->section)
		return -ENOMEM;
	pool->call.entry = pool->text + SFT_SLOT;
	pool->call.target = sft_leaf;
	return 0;
}

static inline int sft_pool_make(struct sft_pool *pool)
{
	return sft_pool_map(pool) ?: sft_register_callees();
}

static inline void sft_pool_unmap(struct sft_pool *pool)
{
	munmap(pool->text, SFT_POOL_TEXT);
	munmap(pool->section, SFT_POOL_SECTION);
}

static inline void sft_pool_fdes(struct sft_fde *fdes, const __u8 *text)
{
	unsigned int i;

	for (i = 0; i < SFT_POOL_SLOTS; i++)
		fdes[i] = (struct sft_fde)SFT_SLOT_FDE(text + i * SFT_SLOT,
							sft_slot_arg);
}

/* Build a valid section for @text; returns its size. */
static inline size_t sft_pool_build(__u8 *section, const __u8 *text)
{
	struct sft_fde fdes[SFT_POOL_SLOTS];

	sft_pool_fdes(fdes, text);
	return sft_build(section, fdes, SFT_POOL_SLOTS);
}

/* Row @nr of slot @i in such a section: start, info byte, words. */
static inline __u8 *sft_pool_row(void *section, unsigned int i, unsigned int nr)
{
	__u8 *row = sft_row_bytes(section, i);
	unsigned int before;

	for (before = 0; before < nr; before++)
		row += 2 + sft_slot_arg.rows[before].nr_words;
	return row;
}

/* Windows that the test has registered itself. */
static inline int sft_pool_windows(void)
{
	return sft_windows() - SFT_CALLEES;
}

/* Where samples are taken: at the call of the slot. */
static inline __u64 sft_pool_ip(const struct sft_call *call)
{
	return (uintptr_t)call->entry + SFT_POOL_CALL;
}

/*
 * Sample at the call of the slot, then in its callee: both walks must end at
 * the slot, for @reason and no other, and the window must stay.
 */
static inline void sft_pool_refused(struct __test_metadata *_metadata,
				    const struct sft_call *call, bool defer,
				    const char *reason)
{
	const __u64 ip = sft_pool_ip(call);
	const __u64 ret = (uintptr_t)call->entry + SFT_POOL_RET;
	struct sft_stats before, after;
	struct sft_chain chain;

	ASSERT_EQ(0, sft_stats(&before));
	ASSERT_EQ(0, sft_chain_at((void *)ip, defer, call, &chain));
	EXPECT_CHAIN(&chain, ip);
	ASSERT_EQ(0, sft_stats(&after));
	EXPECT_STREQ(reason, after.last_reason);
	EXPECT_EQ(ip, after.last_ip);

	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, defer, call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body, ret);
	ASSERT_EQ(0, sft_stats(&after));
	EXPECT_EQ(before.windows, after.windows);
	EXPECT_EQ(ret - 1, after.last_ip);
	EXPECT_TRUE(sft_only_for(&before, &after, reason, 2));
}

static inline void sft_pool_good(struct __test_metadata *_metadata,
				 const struct sft_call *call, bool defer)
{
	const __u64 ip = sft_pool_ip(call);
	struct sft_chain chain;

	ASSERT_EQ(0, sft_chain_at((void *)ip, defer, call, &chain));
	EXPECT_CHAIN(&chain, ip, SFT_CALLERS);
}

#endif /* SFRAME_POOL_H */
