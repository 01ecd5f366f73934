// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Tagged pointers and tagged memory: a section's address may be tagged if
 * system calls of the thread accept that, text addresses may not, and a frame
 * that is read with a wrong tag ends the walk.
 */
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "harness.h"

#include "slots.h"
#include "tags.h"

#define KEY		1
#define KEY_CODE	2
#define KEY_LEAF	3
#define SECTION_SIZE	(4 * SFT_PAGE)
#define STACK_SIZE	(16 * SFT_PAGE)
/* Enough functions that a search starts with data noted at registration. */
#define MANY		100

#define TAG_SHIFT	56
#define TAG		(5UL << TAG_SHIFT)
#define OTHER_TAG	(9UL << TAG_SHIFT)

#ifndef PROT_MTE
#define PROT_MTE	0x20
#endif
#ifndef HWCAP2_MTE
#define HWCAP2_MTE	0x40000
#endif

#define ALL_TAGS	(0xfffeUL << PR_MTE_TAG_SHIFT)

static const struct sft_row tag_fp_rows[] = {
	SFT_ROW_LR(0), SFT_ROW_RA_FP(4, 1, 16, -8, -16),
	SFT_ROW_RA_FP(8, 0, 16, -8, -16), SFT_ROW_LR(20),
};

static void *with_tag(const void *ptr, unsigned long tag)
{
	return (void *)((uintptr_t)ptr | tag);
}

/* Set whether this thread may pass tagged pointers to system calls. */
static int set_abi(unsigned long flags)
{
	return prctl(PR_SET_TAGGED_ADDR_CTRL, flags, 0, 0, 0) ? -errno : 0;
}

/*
 * A step by sft_leaf's frame pointer does not give the stack pointer, which the
 * slot's rows need. So register a window for sft_leaf, too.
 */
static int register_leaf(__u8 *section)
{
	const struct sft_fde fde = SFT_FDE(sft_leaf, sft_leaf_end - sft_leaf,
					   sft_leaf_rows);

	return sft_register(KEY_LEAF, section, sft_build(section, &fde, 1),
			    NULL);
}

FIXTURE(tags)
{
	__u8		*text;
	__u8		*section;
	__u8		*leaf_section;
	struct sft_call	call;
};

FIXTURE_VARIANT(tags)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(tags, fp) { false };
FIXTURE_VARIANT_ADD(tags, defer) { true };

FIXTURE_SETUP(tags)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	self->text = sft_make_slot(&sft_slot_arg, sft_leaf);
	ASSERT_NE(NULL, self->text);
	self->section = sft_map(SECTION_SIZE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->leaf_section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->leaf_section);
	ASSERT_EQ(0, register_leaf(self->leaf_section));
	self->call.entry = self->text;
	self->call.target = sft_leaf;
	ASSERT_EQ(0, set_abi(PR_TAGGED_ADDR_ENABLE));
}

FIXTURE_TEARDOWN(tags)
{
	munmap(self->text, SFT_SLOT_MAP);
	munmap(self->section, SECTION_SIZE);
	munmap(self->leaf_section, SFT_PAGE);
}

static struct sft_fde slot_fde(const __u8 *text)
{
	return (struct sft_fde){
		.start = text, .size = SFT_SLOT, .rows = sft_slot_arg.rows,
		.nr_rows = sft_slot_arg.nr_rows,
	};
}

/* Distances in a section are between untagged addresses. */
static size_t build_plain(__u8 *section, const __u8 *text)
{
	const struct sft_fde fde = slot_fde(text);

	return sft_build(section, &fde, 1);
}

static size_t build_many(__u8 *section, const __u8 *text)
{
	struct sft_fde fdes[MANY];
	unsigned int i;

	fdes[0] = slot_fde(text);
	for (i = 1; i < MANY; i++)
		fdes[i] = (struct sft_fde){ .start = text + SFT_SLOT };
	return sft_build(section, fdes, MANY);
}

/* Check the stack of sft_leaf, called by the slot. */
#define EXPECT_LEAF() do {						\
	struct sft_chain chain;						\
									\
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer,	\
				  &self->call, &chain));		\
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,			\
		     (uintptr_t)self->text + sft_slot_arg.ret,		\
		     SFT_CALLERS);					\
} while (0)

/* Guards against: tagged function addresses, which match no text. */
TEST_F(tags, section_is_as_without_tag)
{
	static size_t (*const builds[])(__u8 *, const __u8 *) = {
		build_plain, build_many,
	};
	unsigned int i;
	size_t len;

	for (i = 0; i < ARRAY_SIZE(builds); i++) {
		len = builds[i](self->section, self->text);
		ASSERT_EQ(0, sft_register(KEY, with_tag(self->section, TAG),
					  len, NULL));
		EXPECT_LEAF();
		/* Threads without the ABI can use the window. */
		ASSERT_EQ(0, set_abi(0));
		EXPECT_LEAF();
		ASSERT_EQ(0, set_abi(PR_TAGGED_ADDR_ENABLE));
		ASSERT_EQ(0, sft_unregister(KEY));
	}
}

/* Guards against: accepting tags from a thread without the ABI. */
TEST_F(tags, no_tag_without_the_abi)
{
	size_t len = build_plain(self->section, self->text);
	struct sframe_window_opts opts = { .size = sizeof(opts) };

	ASSERT_EQ(0, set_abi(0));
	EXPECT_EQ(-EINVAL, sft_register(KEY, with_tag(self->section, TAG), len,
					NULL));
	EXPECT_EQ(-EFAULT, sft_register(KEY, self->section, len,
					with_tag(&opts, TAG)));
	EXPECT_EQ(1, sft_windows());
	ASSERT_EQ(0, set_abi(PR_TAGGED_ADDR_ENABLE));
	EXPECT_EQ(0, sft_register(KEY, self->section, len,
				  with_tag(&opts, TAG)));
	EXPECT_LEAF();
}

/* Guards against: windows at tagged text addresses. A key may be any number. */
TEST_F(tags, text_has_no_tag)
{
	size_t len = build_plain(self->section, self->text);

	EXPECT_EQ(-EINVAL, sft_register_text(KEY, self->section, len,
					     with_tag(self->text, TAG),
					     SFT_SLOT, 0));
	EXPECT_EQ(0, sft_register(KEY | TAG, self->section, len, NULL));
	EXPECT_EQ(-ENOENT, sft_unregister(KEY));
	EXPECT_EQ(0, sft_unregister(KEY | TAG));
}

/*
 * Guards against: wrong frames after a tagged frame pointer. In a process with
 * windows, walks do not follow it, with or without a window at the address.
 */
TEST_F(tags, frame_pointer_with_a_tag_ends_the_walk)
{
	const struct sft_fde code = SFT_FDE(sft_tag_fp, sft_tag_fp_end - sft_tag_fp,
					    tag_fp_rows);
	const struct sft_call call = { sft_tag_fp, (void *)TAG };
	size_t len = build_plain(self->section, self->text);
	struct sft_stats before, after;
	struct sft_chain chain;

	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	ASSERT_EQ(0, sft_stats(&before));
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, &call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body, (uintptr_t)sft_tag_fp_ret);
	ASSERT_EQ(0, sft_stats(&after));
	EXPECT_TRUE(sft_only_for(&before, &after, "frame_pointer", 1));

	len = sft_build(self->section + SFT_PAGE, &code, 1);
	ASSERT_EQ(0, sft_register(KEY_CODE, self->section + SFT_PAGE, len,
				  NULL));
	ASSERT_EQ(0, sft_stats(&before));
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, &call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body, (uintptr_t)sft_tag_fp_ret);
	ASSERT_EQ(0, sft_stats(&after));
	EXPECT_TRUE(sft_only_for(&before, &after, "stack_fault", 1));
}

/* ---- Memory with tags --------------------------------------------------- */

FIXTURE(mte)
{
	__u8		*text;
	__u8		*section;
	__u8		*leaf_section;
	__u8		*stack;
	struct sft_call	call;
};

FIXTURE_VARIANT(mte)
{
	unsigned long	mode;
	bool		defer;
};

FIXTURE_VARIANT_ADD(mte, none_fp) { PR_MTE_TCF_NONE, false };
FIXTURE_VARIANT_ADD(mte, none_defer) { PR_MTE_TCF_NONE, true };
FIXTURE_VARIANT_ADD(mte, sync_fp) { PR_MTE_TCF_SYNC, false };
FIXTURE_VARIANT_ADD(mte, sync_defer) { PR_MTE_TCF_SYNC, true };
FIXTURE_VARIANT_ADD(mte, async_fp) { PR_MTE_TCF_ASYNC, false };
FIXTURE_VARIANT_ADD(mte, async_defer) { PR_MTE_TCF_ASYNC, true };

FIXTURE_SETUP(mte)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	if (!(getauxval(AT_HWCAP2) & HWCAP2_MTE))
		SKIP(return, "neither kernel nor processor have MTE");
	self->text = sft_make_slot(&sft_slot_arg, sft_leaf);
	ASSERT_NE(NULL, self->text);
	self->section = sft_map(SECTION_SIZE, SFT_RW | PROT_MTE);
	ASSERT_NE(NULL, self->section);
	self->stack = sft_map(STACK_SIZE, SFT_RW | PROT_MTE);
	ASSERT_NE(NULL, self->stack);
	self->leaf_section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->leaf_section);
	ASSERT_EQ(0, register_leaf(self->leaf_section));
	self->call.entry = self->text;
	self->call.target = sft_leaf;
	ASSERT_EQ(0, set_abi(PR_TAGGED_ADDR_ENABLE | variant->mode | ALL_TAGS));
}

FIXTURE_TEARDOWN(mte)
{
	munmap(self->text, SFT_SLOT_MAP);
	munmap(self->section, SECTION_SIZE);
	munmap(self->leaf_section, SFT_PAGE);
	munmap(self->stack, STACK_SIZE);
}

/*
 * Give pages the tag of the pointer to them. QEMU before version 8 uses the
 * tags of a page's first granules for all of it: this sets those of each block.
 */
static void set_tags(void *ptr, size_t size)
{
	char *pos = ptr, *end = pos + size;
	unsigned long block;

	asm("mrs %0, dczid_el0" : "=r" (block));
	block = 4UL << (block & 15);
	for (; pos < end; pos += block)
		asm volatile(".arch armv8.5-a+memtag\n\tdc gva, %0"
			     : : "r" (pos) : "memory");
}

#define CHECKED()	(variant->mode == PR_MTE_TCF_SYNC)

/* Guards against: reading a section with a wrong tag. */
TEST_F(mte, section_with_tags)
{
	const size_t len = build_plain(self->section, self->text);
	__u8 *section = with_tag(self->section, TAG);
	struct sft_stats before, after;
	struct sft_chain chain;

	set_tags(section, SECTION_SIZE);
	/* With a wrong tag, which fails only if tags are checked. */
	EXPECT_EQ(CHECKED() ? -EFAULT : 0,
		  sft_register(KEY, self->section, len, NULL));
	if (!CHECKED()) {
		EXPECT_LEAF();
		ASSERT_EQ(0, sft_unregister(KEY));
	}

	ASSERT_EQ(0, sft_register(KEY, section, len, NULL));
	EXPECT_LEAF();

	/* The memory was reused with another tag, but the window remains. */
	ASSERT_EQ(0, sft_unregister(KEY));
	ASSERT_EQ(0, sft_register(KEY, section, len, NULL));
	set_tags(with_tag(self->section, OTHER_TAG), SECTION_SIZE);
	if (!CHECKED()) {
		EXPECT_LEAF();
		return;
	}
	ASSERT_EQ(0, sft_stats(&before));
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, &self->call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
		     (uintptr_t)self->text + sft_slot_arg.ret);
	ASSERT_EQ(0, sft_stats(&after));
	EXPECT_TRUE(sft_only_for(&before, &after, "section_fault", 1));
}

/* A call on the stack that ends at @top. */
struct call_on {
	__u8			*top;
	const struct sft_call	*call;
};

static void run_on(const void *arg)
{
	const struct call_on *run = arg;

	sft_enter(run->top, sft_outer, run->call);
}

static int sample_on(__u8 *top, const void *addr, bool defer,
		     const struct sft_call *call, struct sft_chain *chain)
{
	const struct call_on run = { top, call };
	struct sft_event event;
	int ret = sft_break_open(&event, addr, defer);

	if (ret)
		return ret;
	ret = sft_event_sample_run(&event, run_on, &run, chain);
	sft_event_close(&event);
	return ret;
}

/* Guards against: truncating tagged stacks, or ignoring their tags. */
TEST_F(mte, frame_with_another_tag)
{
	/* The first frame is sft_outer's; those below are in another page. */
	__u8 *outer = self->stack + STACK_SIZE / 2, *top = outer + 16;
	const size_t len = build_plain(self->section, self->text);
	struct sft_call call = { sft_tag_granule, outer };
	struct sft_chain chain;
	unsigned int i;

	/* Without windows, and with one elsewhere. */
	ASSERT_EQ(0, sft_unregister(KEY_LEAF));
	for (i = 0; i < 2; i++) {
		call.target = outer;
		ASSERT_EQ(0, sample_on(top, sft_tag_granule_body, variant->defer,
				       &call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)sft_tag_granule_body, SFT_CALLERS);

		call.target = with_tag(outer, TAG);
		ASSERT_EQ(0, sample_on(top, sft_tag_granule_body, variant->defer,
				       &call, &chain));
		if (CHECKED()) {
			EXPECT_CHAIN(&chain, (uintptr_t)sft_tag_granule_body,
				     (uintptr_t)sft_inner_ret,
				     (uintptr_t)sft_outer_ret);
		} else {
			EXPECT_CHAIN(&chain, (uintptr_t)sft_tag_granule_body,
				     SFT_CALLERS);
		}
		if (!i)
			ASSERT_EQ(0, sft_register(KEY, self->section, len,
						  NULL));
	}
}

TEST_HARNESS_MAIN
