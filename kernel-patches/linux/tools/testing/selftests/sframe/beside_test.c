// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Steps by frame pointer in code without a window, in a process with windows.
 */
#include <ucontext.h>

#include "harness.h"

#include "slots.h"

#define KEY		1
#define KEY_2		2

FIXTURE(steps)
{
	__u8		*section;
	__u8		*window;
	const __u8	*ip;
	struct sft_call	call;
};

FIXTURE_VARIANT(steps)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(steps, fp) { .defer = false };
FIXTURE_VARIANT_ADD(steps, defer) { .defer = true };

/* Code whose frame pointer the test chooses, and a window elsewhere. */
FIXTURE_SETUP(steps)
{
	struct sft_fde fde = { .size = SFT_SLOT, .rows = sft_slot_arg.rows,
			       .nr_rows = 3 };
	const __u8 *text;

	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	text = sft_map_code(sft_fp_code, sizeof(sft_fp_code), SFT_PAGE);
	self->window = sft_make_slot(&sft_slot_arg, NULL);
	self->section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, text);
	ASSERT_NE(NULL, self->window);
	ASSERT_NE(NULL, self->section);
	fde.start = self->window;
	ASSERT_EQ(0, sft_register(KEY, self->section,
				  sft_build(self->section, &fde, 1), NULL));
	self->call.entry = text;
	self->ip = text + SFT_FP_CODE_NOP;
}

FIXTURE_TEARDOWN(steps)
{
	munmap(self->section, SFT_PAGE);
	munmap(self->window, SFT_SLOT_MAP);
}

#define EXPECT_FROM(fp, ...) do {					\
	struct sft_chain _chain;					\
									\
	self->call.target = (fp);					\
	ASSERT_EQ(0, sft_chain_at(self->ip, variant->defer, &self->call, \
				  &_chain));				\
	EXPECT_CHAIN(&_chain, (uintptr_t)self->ip, ##__VA_ARGS__);	\
} while (0)

/*
 * Frames (struct sft_frame) are on the process stack. It is above all others,
 * so that a walk may go up to them.
 */
#define SOMEWHERE	0x12340000UL
#define ELSEWHERE	0x12350000UL

/* Guards against: tests that cannot fail: here the walk must follow frames. */
TEST_F(steps, good_frames)
{
	struct sft_frame frames[] = {
		{ .fp = (uintptr_t)&frames[2], .ra = SOMEWHERE }, { .fp = 0 },
		{ .fp = 0, .ra = ELSEWHERE },
	};

	EXPECT_FROM(frames, SOMEWHERE, ELSEWHERE);
}

/* Guards against: following a frame pointer down, out of the stack. */
TEST_F(steps, frame_pointer_below_the_stack_pointer)
{
	static struct sft_frame low = { .ra = SOMEWHERE };
	struct sft_frame frames[] = {
		{ .fp = (uintptr_t)&low, .ra = SOMEWHERE }, { .fp = 0 },
		{ .fp = (uintptr_t)&frames[2], .ra = ELSEWHERE },
	};

	ASSERT_GT((uintptr_t)frames, (uintptr_t)&low);
	EXPECT_FROM(&low);
	EXPECT_FROM(&frames[0], SOMEWHERE);
	/* A frame that leads to itself. */
	EXPECT_FROM(&frames[2], ELSEWHERE);
}

/* Guards against: following a frame pointer that is not aligned. */
TEST_F(steps, frame_pointer_that_is_not_aligned)
{
	struct {
		struct sft_frame first;
		__u64 room[2 * sizeof(struct sft_frame) / sizeof(__u64)];
	} stack = { {
		.fp = (uintptr_t)&stack.room[1] + 4, .ra = SOMEWHERE,
	} };
	const struct sft_frame odd = { .ra = ELSEWHERE };

	memcpy((char *)&stack.room[1] + 4, &odd, sizeof(odd));
	EXPECT_FROM((char *)&stack.room[1] + 4);
	EXPECT_FROM(&stack.first, SOMEWHERE);
}

/*
 * Invalid return addresses, like those in sft_no_user. perf uses the last ones
 * as context marks. Addresses below 4096 are below vm.mmap_min_addr.
 */
static const __u64 no_code[] = {
	0, 1, 0xfff, PERF_CONTEXT_USER, PERF_CONTEXT_MAX, -1UL,
};

#define NR_NO_CODE	(ARRAY_SIZE(no_code) + ARRAY_SIZE(sft_no_user))

static __u64 no_code_at(unsigned int i)
{
	return i < ARRAY_SIZE(no_code) ? no_code[i] :
					 sft_no_user[i - ARRAY_SIZE(no_code)];
}

/* Guards against: context marks and kernel addresses in callchains. */
TEST_F(steps, return_addresses_that_cannot_be_ones)
{
	const __u64 end = sft_user_end();
	struct sft_frame frame = { .fp = 0 };
	unsigned int i;

	for (i = 0; i < NR_NO_CODE; i++) {
		frame.ra = no_code_at(i);
		TH_LOG("%llx", frame.ra);
		EXPECT_FROM(&frame);
	}
	/* All but the address 0, which ends a stack. */
	EXPECT_EQ(SFT_FP_COUNTED * (NR_NO_CODE - 1),
		  sft_refused("frame_pointer"));
	EXPECT_EQ(SFT_FP_COUNTED * (NR_NO_CODE - 1), sft_all_refused());
	frame.ra = end;
	EXPECT_FROM(&frame);
	frame.ra = end - SFT_CODE_ALIGN;
	EXPECT_FROM(&frame, end - SFT_CODE_ALIGN);
	frame.ra = 0x1000;
	EXPECT_FROM(&frame, 0x1000);
}

/* Guards against: the same for return addresses of rows. */
TEST_F(steps, return_addresses_of_rows_that_cannot_be_ones)
{
	static const struct sft_row row =
		SFT_FLEX(0, SFT_REG(SFT_REGNUM_SP), SFT_CFA(SFT_FP_CODE_CFA),
			 SFT_REG_DEREF(SFT_REGNUM_TARGET), 0);
	const struct sft_fde fde = {
		.start = self->ip, .size = 1, .rows = &row, .nr_rows = 1,
		.info2 = SFRAME_FDE_TYPE_FLEX,
	};
	__u8 *section = self->section + SFT_PAGE / 2;
	unsigned int i;
	__u64 word;

	ASSERT_EQ(0, sft_register(KEY_2, section, sft_build(section, &fde, 1),
				  NULL));
	for (i = 0; i < NR_NO_CODE; i++) {
		word = no_code_at(i);
		TH_LOG("%llx", word);
		EXPECT_FROM(&word);
		/* The first one is 0. */
		EXPECT_EQ(i, sft_refused("return_address"));
	}
	EXPECT_EQ(1, sft_refused("no_caller"));
	EXPECT_EQ(i, sft_all_refused());
}

/* ---- Coroutines -------------------------------------------------------- */

#define COROUTINE_STACK	(16 * SFT_PAGE)

static ucontext_t resumer, coroutine;

static void resume(void)
{
	swapcontext(&resumer, &coroutine);
}

/*
 * On these machines makecontext() can pass a pointer. The caller of the first
 * function is in the C library. Later frames depend on the frame pointer that
 * the library leaves.
 */
static int chain_in_coroutine(void *stack, bool defer, struct sft_chain *chain)
{
	static const struct sft_call inside = { .entry = sft_leaf };
	const struct sft_call call = { .entry = resume };
	int ret;

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = COROUTINE_STACK;
	coroutine.uc_link = &resumer;
	makecontext(&coroutine, (void (*)(void))sft_outer, 1, &inside);
	ret = sft_chain_at(sft_leaf_body, defer, &call, chain);
	if (!ret && chain->nr > 4)
		chain->nr = 4;
	return ret;
}

/* Guards against: losing a coroutine's frames once there is a window. */
TEST_F(steps, coroutines)
{
	/* Below and above the stack of the resumer. */
	static __u8 low[COROUTINE_STACK];
	__u8 high[COROUTINE_STACK];
	struct sft_chain below, above, without;

	ASSERT_EQ(0, chain_in_coroutine(low, variant->defer, &below));
	ASSERT_EQ(0, chain_in_coroutine(high, variant->defer, &above));
	ASSERT_EQ(0, sft_unregister(KEY));
	ASSERT_EQ(0, chain_in_coroutine(low, variant->defer, &without));
	ASSERT_EQ(4, without.nr);
	EXPECT_CHAIN(&without, (uintptr_t)sft_leaf_body,
		     (uintptr_t)sft_inner_ret, (uintptr_t)sft_outer_ret,
		     without.ip[3]);
	EXPECT_TRUE(sft_chain_check(&below, without.ip, without.nr));
	EXPECT_TRUE(sft_chain_check(&above, without.ip, without.nr));
	/* The frame pointer that the library leaves may lead to no frame. */
	EXPECT_EQ(sft_all_refused(), sft_refused("frame_pointer"));
}

TEST_HARNESS_MAIN
