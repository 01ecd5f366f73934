// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Frame records that are not readable, or that lead nowhere: the walk ends
 * there and keeps the frames before, with and without a window elsewhere.
 */
#include "harness.h"

#include "record.h"
#include "slots.h"

#define KEY		1
#define KERNEL_ADDRESS	0xffff800080000000UL

asm(".text\n"
	".globl record_fp, record_fp_body\n"
	".balign 16\n"
	"record_fp:\n"
	"	bti	c\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	mov	x29, x9\n"
	"record_fp_body:\n"
	"	nop\n"
	"	ldp	x29, x30, [sp], #16\n"
	"	ret\n");

struct record {
	const void	*fp;
	__u64		lr;
};

FIXTURE(record)
{
	__u8		*text;
	__u8		*section;
	/* Two records, which end at a page that is not readable. */
	struct record	*records;
	__u8		*end;
};

FIXTURE_VARIANT(record)
{
	bool	window;
	bool	defer;
};

FIXTURE_VARIANT_ADD(record, fp) { false, false };
FIXTURE_VARIANT_ADD(record, defer) { false, true };
FIXTURE_VARIANT_ADD(record, beside_fp) { true, false };
FIXTURE_VARIANT_ADD(record, beside_defer) { true, true };

FIXTURE_SETUP(record)
{
	struct sft_fde fde;

	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	self->end = sft_map(2 * SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->end);
	self->end += SFT_PAGE;
	ASSERT_EQ(0, mprotect(self->end, SFT_PAGE, PROT_NONE));
	self->records = (struct record *)self->end - 2;
	self->text = sft_make_slot(&sft_slot_arg, sft_leaf);
	ASSERT_NE(NULL, self->text);
	self->section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	fde = (struct sft_fde)SFT_SLOT_FDE(self->text, sft_slot_arg);
	if (variant->window)
		ASSERT_EQ(0, sft_register(KEY, self->section,
					  sft_build(self->section, &fde, 1),
					  NULL));
}

FIXTURE_TEARDOWN(record)
{
	munmap(self->end - SFT_PAGE, 2 * SFT_PAGE);
	munmap(self->text, SFT_SLOT_MAP);
	munmap(self->section, SFT_PAGE);
}

#define LR(i)	((uintptr_t)record_fp + 4 * (i))

/* With this frame pointer, the walk finds these callers. */
#define EXPECT_CALLERS(frame, ...) do {					\
	const struct sft_call call = { record_fp, (frame) };		\
	struct sft_chain chain;						\
									\
	ASSERT_EQ(0, sft_chain_at(record_fp_body, variant->defer,	\
				  &call, &chain));			\
	EXPECT_CHAIN(&chain, (uintptr_t)record_fp_body, ##__VA_ARGS__);	\
} while (0)

TEST_F(record, each_leads_to_the_next)
{
	self->records[0] = (struct record){ self->records + 1, LR(1) };
	self->records[1] = (struct record){ NULL, LR(2) };
	EXPECT_CALLERS(self->records, LR(1), LR(2));
}

/* Guards against: using a record with one unreadable word. */
TEST_F(record, half_of_it_can_be_read)
{
	self->records[0] = (struct record){ self->end - 8, LR(1) };
	self->records[1] = (struct record){ NULL, LR(2) };
	EXPECT_CALLERS(self->end - 8);
	EXPECT_CALLERS(self->records, LR(1));
}

TEST_F(record, none_of_it_can_be_read)
{
	self->records[0] = (struct record){ self->end, LR(1) };
	EXPECT_CALLERS(self->end);
	EXPECT_CALLERS(self->records, LR(1));
}

/* Guards against: reads of kernel memory. */
TEST_F(record, it_is_not_in_user_space)
{
	const void *end = (void *)sft_user_end();
	const void *where[] = {
		(void *)KERNEL_ADDRESS, end, end - 8, (void *)-16L, (void *)-8L,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(where); i++) {
		self->records[0] = (struct record){ where[i], LR(1) };
		EXPECT_CALLERS(where[i]);
		EXPECT_CALLERS(self->records, LR(1));
	}
}

TEST_F(record, it_is_not_aligned)
{
	const __u8 *odd = (__u8 *)self->records + 4;

	self->records[0] = (struct record){ odd, LR(1) };
	EXPECT_CALLERS(odd);
	EXPECT_CALLERS(self->records, LR(1));
}

/* Guards against: endless walks. */
TEST_F(record, it_leads_back)
{
	self->records[0] = (struct record){ self->records, LR(1) };
	self->records[1] = (struct record){ self->records, LR(2) };
	EXPECT_CALLERS(self->records, LR(1));
	EXPECT_CALLERS(self->records + 1, LR(2));
}

TEST_HARNESS_MAIN
