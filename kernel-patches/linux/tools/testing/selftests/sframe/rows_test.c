// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Each kind of row and function the format has, tables of all sizes, and what
 * the walk does at the edges of windows, functions and rows.
 */
#include <stdlib.h>

#include "harness.h"

#include "slots.h"

#define KEY		1
#define KEY_2		2
#define SECTION_SIZE	(16 * SFT_PAGE)

FIXTURE(rows)
{
	__u8		*section;
};

/* Each table with one function is also tested without a neighbour for it. */
FIXTURE_VARIANT(rows)
{
	bool	defer;
	bool	small;
};

FIXTURE_VARIANT_ADD(rows, fp) { false, false };
FIXTURE_VARIANT_ADD(rows, fp_small) { false, true };
FIXTURE_VARIANT_ADD(rows, defer) { true, false };
FIXTURE_VARIANT_ADD(rows, defer_small) { true, true };

FIXTURE_SETUP(rows)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->section = sft_map(SECTION_SIZE, SFT_RW);
	ASSERT_NE(NULL, self->section);
}

FIXTURE_TEARDOWN(rows)
{
	munmap(self->section, SECTION_SIZE);
}

#define TEXT(code)	sft_map_code(code, sizeof(code), SFT_PAGE)

static int register_fdes(__u8 *section, const struct sft_fde *fdes,
			 unsigned int nr)
{
	return sft_register(KEY, section, sft_build(section, fdes, nr), NULL);
}

#define BUILD(sec, fdes, nr)						\
	(variant->small ? sft_build_small(sec, fdes, nr) :		\
			  sft_build(sec, fdes, nr))
#define REGISTER(sec, fdes, nr)						\
	sft_register(KEY, sec, BUILD(sec, fdes, nr), NULL)

#define EXPECT_WALK(addr, defer, call, ...) do {			\
	const void *_addr = (addr);					\
	struct sft_chain _chain;					\
									\
	ASSERT_EQ(0, sft_chain_at(_addr, defer, (call), &_chain));	\
	EXPECT_CHAIN(&_chain, (uintptr_t)_addr, ##__VA_ARGS__);		\
} while (0)

#define EXPECT_AT(addr, call, ...)					\
	EXPECT_WALK(addr, variant->defer, call, ##__VA_ARGS__)

/*
 * Realigned stack, as gcc makes it: the CFA is in r10, then in memory.
 *
 *  0 lea 8(%rsp),%r10	 5 and $-32,%rsp	 9 push -8(%r10)
 * 13 push %rbp		14 mov %rsp,%rbp	17 push %r10
 * 19 call *%r9		22 pop %r10		24 pop %rbp
 * 25 lea -8(%r10),%rsp	29 ret
 */
static const __u8 drap_code[] = {
	0x4c, 0x8d, 0x54, 0x24, 0x08, 0x48, 0x83, 0xe4, 0xe0, 0x41, 0xff, 0x72,
	0xf8, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x52, 0x41, 0xff, 0xd1, 0x41, 0x5a,
	0x5d, 0x49, 0x8d, 0x62, 0xf8, 0xc3,
};

static const __u8 drap_insns[] = { 0, 5, 9, 13, 14, 17, 19, 22, 24, 25, 29 };

#define DRAP_CALL_RET	22

static const struct sft_row drap_rows[] = {
	SFT_FLEX(0, SFT_REG(SFT_RSP), 8),
	SFT_FLEX(5, SFT_REG(SFT_R10), 0),
	SFT_FLEX(17, SFT_REG(SFT_R10), 0, 0, SFT_REG_DEREF(SFT_RBP), 0),
	SFT_FLEX(19, SFT_REG_DEREF(SFT_RBP), -8,
		 0, SFT_REG_DEREF(SFT_RBP), 0),
	SFT_FLEX(24, SFT_REG(SFT_R10), 0, 0, SFT_REG_DEREF(SFT_RSP), 0),
	SFT_FLEX(25, SFT_REG(SFT_R10), 0),
	SFT_FLEX(29, SFT_REG(SFT_RSP), 8),
};

static struct sft_fde flex_fde(const __u8 *text, size_t size,
			       const struct sft_row *rows, unsigned int nr)
{
	return (struct sft_fde){
		.start = text, .size = size, .rows = rows, .nr_rows = nr,
		.info2 = SFRAME_FDE_TYPE_FLEX,
	};
}

/* Guards against: realigned stacks, whose CFA is in r10. */
TEST_F(rows, flex_with_a_register_and_with_memory)
{
	const __u8 *text = TEXT(drap_code);
	const struct sft_fde fde = flex_fde(text, sizeof(drap_code), drap_rows,
					    ARRAY_SIZE(drap_rows));
	const struct sft_call call = { text, sft_leaf };
	unsigned int i;

	ASSERT_EQ(0, REGISTER(self->section, &fde, 1));
	for (i = 0; i < sizeof(drap_insns); i++) {
		TH_LOG("instruction at %u", drap_insns[i]);
		EXPECT_AT(text + drap_insns[i], &call, SFT_CALLERS);
	}
	/* Through a frame whose CFA is in memory. */
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + DRAP_CALL_RET,
		  SFT_CALLERS);
}

/* Guards against: registers that a callee has overwritten. */
TEST_F(rows, other_registers_only_in_the_topmost_frame)
{
	static const struct sft_row drap_row = SFT_FLEX(0, SFT_REG(SFT_R10), 0);
	const __u8 *text = TEXT(drap_code);
	const struct sft_fde fde = flex_fde(text, sizeof(drap_code), &drap_row,
					    1);
	const struct sft_call call = { text, sft_leaf };

	ASSERT_EQ(0, REGISTER(self->section, &fde, 1));
	EXPECT_AT(text + 13, &call, SFT_CALLERS);
	EXPECT_EQ(0, sft_refused("row_register"));

	/* r10 still holds it here, but who knows what the callee did. */
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + DRAP_CALL_RET);
	EXPECT_EQ(1, sft_refused("row_register"));
}

/*
 *  0 pop %r11		 2 push %r11	 4 mov %r11,%rax
 *  7 pop %rcx (drops it) 8 nop		 9 push %rax	10 ret
 * Between 7 and 9 the return address is in rax and r11 only.
 */
static const __u8 ra_code[] = {
	0x41, 0x5b, 0x41, 0x53, 0x4c, 0x89, 0xd8, 0x59, 0x90, 0x50, 0xc3,
};

static const struct sft_row ra_rows[] = {
	SFT_FLEX(0, SFT_REG(SFT_RSP), 8),
	SFT_FLEX(2, SFT_REG(SFT_RSP), 0, SFT_REG(11), 0),
	SFT_FLEX(4, SFT_REG(SFT_RSP), 8),
	SFT_FLEX(8, SFT_REG(SFT_RSP), 0, SFT_REG(11), 0),
	SFT_FLEX(10, SFT_REG(SFT_RSP), 8),
};

/* Guards against: a return address that is always in memory. */
TEST_F(rows, flex_return_address_in_a_register)
{
	const __u8 *text = TEXT(ra_code);
	const struct sft_fde fde = flex_fde(text, sizeof(ra_code), ra_rows,
					    ARRAY_SIZE(ra_rows));
	const struct sft_call call = { text, NULL };

	ASSERT_EQ(0, REGISTER(self->section, &fde, 1));
	EXPECT_AT(text + 2, &call, SFT_CALLERS);
	EXPECT_AT(text + 4, &call, SFT_CALLERS);
	EXPECT_AT(text + 8, &call, SFT_CALLERS);
	EXPECT_AT(text + 10, &call, SFT_CALLERS);
}

/*
 * The return address and rbp at places of their own:
 * 0 push (%rsp); 3 push %rbp; 4 xor %ebp,%ebp; 6 movq $0,16(%rsp);
 * 15 call *%r9; 18 mov 8(%rsp),%rax; 23 mov %rax,16(%rsp); 28 pop %rbp;
 * 29 pop %rcx; 30 ret
 */
static const __u8 moved_code[] = {
	0xff, 0x34, 0x24, 0x55, 0x31, 0xed, 0x48, 0xc7, 0x44, 0x24, 0x10, 0, 0,
	0, 0, 0x41, 0xff, 0xd1, 0x48, 0x8b, 0x44, 0x24, 0x08, 0x48, 0x89, 0x44,
	0x24, 0x10, 0x5d, 0x59, 0xc3,
};

static const struct sft_row moved_rows[] = {
	SFT_FLEX(0, SFT_REG(SFT_RSP), 8),
	SFT_FLEX(3, SFT_REG(SFT_RSP), 16),
	SFT_FLEX(4, SFT_REG(SFT_RSP), 24, SFT_CFA_DEREF, -16,
		 SFT_CFA_DEREF, -24),
	SFT_FLEX(28, SFT_REG(SFT_RSP), 24, 0, SFT_CFA_DEREF, -24),
	SFT_FLEX(29, SFT_REG(SFT_RSP), 16),
	SFT_FLEX(30, SFT_REG(SFT_RSP), 8),
};

/* Guards against: a return address that is always below the CFA. */
TEST_F(rows, flex_return_address_and_fp_relative_to_the_cfa)
{
	static const __u8 insns[] = { 0, 3, 4, 6, 15, 18, 23, 28, 29, 30 };
	const __u8 *text = TEXT(moved_code);
	const struct sft_fde fde = flex_fde(text, sizeof(moved_code),
					    moved_rows, ARRAY_SIZE(moved_rows));
	const struct sft_call call = { text, sft_leaf };
	unsigned int i;

	ASSERT_EQ(0, REGISTER(self->section, &fde, 1));
	for (i = 0; i < sizeof(insns); i++) {
		TH_LOG("instruction at %u", insns[i]);
		EXPECT_AT(text + insns[i], &call, SFT_CALLERS);
	}
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + 18, SFT_CALLERS);
}

/* Guards against: no CFA rule taken for an error, as in earlier series. */
TEST_F(rows, undefined_return_address_ends_the_walk)
{
	static const struct sft_row row = SFT_OUTERMOST(0);
	const __u8 *text = TEXT(sft_slot_arg.code);
	const struct sft_fde fde = {
		.start = text, .size = SFT_SLOT, .rows = &row, .nr_rows = 1,
	};
	const struct sft_call call = { text, sft_leaf };

	ASSERT_EQ(0, REGISTER(self->section, &fde, 1));
	EXPECT_AT(text, &call);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + sft_slot_arg.ret);
	/* It is no refusal. */
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: the same for the FLEX type. */
TEST_F(rows, undefined_return_address_in_some_rows)
{
	static const struct sft_row rows[] = {
		SFT_FLEX(0, SFT_REG(SFT_RSP), 8), SFT_OUTERMOST(5),
		SFT_FLEX(9, SFT_REG(SFT_RSP), 8),
	};
	const __u8 *text = TEXT(sft_slot_arg.code);
	const struct sft_fde fde = flex_fde(text, SFT_SLOT, rows, 3);
	const struct sft_call call = { text, sft_leaf };

	ASSERT_EQ(0, REGISTER(self->section, &fde, 1));
	EXPECT_AT(text + 4, &call, SFT_CALLERS);
	EXPECT_AT(text + 5, &call);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + 8);
	EXPECT_AT(text + 9, &call, SFT_CALLERS);
}

/* Text of @nr equal slots. */
static __u8 *make_slots(const struct sft_slot *kind, unsigned int nr)
{
	size_t size = nr * SFT_SLOT, map_size = (size + 4095) & -SFT_PAGE;
	__u8 *code = malloc(size), *text;
	unsigned int i;

	if (!code)
		return NULL;
	for (i = 0; i < nr; i++)
		memcpy(code + i * SFT_SLOT, kind->code, SFT_SLOT);
	text = sft_map_code(code, size, map_size);
	free(code);
	return text;
}

static struct sft_fde mask_fde(const __u8 *text, unsigned int nr,
			       const struct sft_slot *kind)
{
	return (struct sft_fde){
		.start = text, .size = nr * SFT_SLOT, .rows = kind->rows,
		.nr_rows = kind->nr_rows, .info = SFRAME_FDE_PCMASK,
		.rep_size = SFT_SLOT,
	};
}

/* Guards against: the wrong block, at the ends of 64 KiB. */
TEST_F(rows, pcmask_at_each_instruction_of_neighbouring_slots)
{
	static const unsigned int slots[] = { 0, 1, 2, 255, 256, 4094, 4095 };
	__u8 *text = make_slots(&sft_slot_arg, 4096);
	const struct sft_fde fde = mask_fde(text, 4096, &sft_slot_arg);
	unsigned int i, j;

	ASSERT_NE(NULL, text);
	ASSERT_EQ(58, sft_build_small(self->section, &fde, 1));
	ASSERT_EQ(0, sft_register(KEY, self->section, 58, NULL));
	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		const __u8 *slot = text + slots[i] * SFT_SLOT;
		const struct sft_call call = { slot, sft_leaf };

		TH_LOG("slot %u", slots[i]);
		for (j = 0; j < sft_nr_insns(&sft_slot_arg); j++)
			EXPECT_AT(slot + sft_slot_arg.insns[j], &call,
				  SFT_CALLERS);
		EXPECT_AT(sft_leaf_body, &call,
			  (uintptr_t)slot + sft_slot_arg.ret, SFT_CALLERS);
	}
}

/* Guards against: blocks that have to be powers of two, or aligned. */
TEST_F(rows, pcmask_with_an_odd_block_size)
{
	static const __u8 code[] = {
		0xcc, 0xcc, 0xcc,
		0x50, 0x41, 0xff, 0xd1, 0x59, 0xc3, 0xcc,
		0x50, 0x41, 0xff, 0xd1, 0x59, 0xc3, 0xcc,
		0x50, 0x41, 0xff, 0xd1, 0x59, 0xc3, 0xcc,
	};
	static const struct sft_row rows[] = {
		SFT_SP(0, 8), SFT_SP(1, 16), SFT_SP(5, 8),
	};
	static const __u8 insns[] = { 0, 1, 4, 5 };
	const __u8 *text = TEXT(code);
	const struct sft_fde fde = {
		.start = text + 3, .size = 21, .rows = rows, .nr_rows = 3,
		.info = SFRAME_FDE_PCMASK, .rep_size = 7,
	};
	unsigned int i, j;

	ASSERT_EQ(0, REGISTER(self->section, &fde, 1));
	for (i = 0; i < 3; i++) {
		const __u8 *block = text + 3 + 7 * i;
		const struct sft_call call = { block, sft_leaf };

		for (j = 0; j < sizeof(insns); j++)
			EXPECT_AT(block + insns[j], &call, SFT_CALLERS);
		EXPECT_AT(sft_leaf_body, &call, (uintptr_t)block + 4,
			  SFT_CALLERS);
	}
}

/* Guards against: a guess where a window knows nothing. */
TEST_F(rows, gap_between_functions_ends_the_walk)
{
	__u8 *text = make_slots(&sft_slot_arg, 3);
	const struct sft_fde fdes[] = {
		SFT_FDE(text, SFT_SLOT, sft_slot_arg.rows),
		SFT_FDE(text + 2 * SFT_SLOT, SFT_SLOT, sft_slot_arg.rows),
	};
	const struct sft_call call = { text + SFT_SLOT, sft_leaf };

	ASSERT_EQ(0, REGISTER(self->section, fdes, 2));
	EXPECT_AT(call.entry, &call);
	EXPECT_EQ(1, sft_refused("no_fde"));
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)call.entry + 8);
	EXPECT_EQ(2, sft_refused("no_fde"));
}

/* Guards against: the same before the first and behind the last one. */
TEST_F(rows, window_larger_than_its_functions)
{
	__u8 *text = make_slots(&sft_slot_arg, 3);
	const struct sft_fde fde = SFT_FDE(text + SFT_SLOT, SFT_SLOT,
					   sft_slot_arg.rows);
	const struct sft_call first = { text, sft_leaf };
	const struct sft_call mid = { text + SFT_SLOT, sft_leaf };
	const struct sft_call last = { text + 2 * SFT_SLOT, sft_leaf };
	size_t len = BUILD(self->section, &fde, 1);

	ASSERT_EQ(0, sft_register_text(KEY, self->section, len, text,
				       3 * SFT_SLOT, 0));
	EXPECT_AT(first.entry, &first);
	EXPECT_AT(mid.entry, &mid, SFT_CALLERS);
	EXPECT_AT(last.entry, &last);
	EXPECT_EQ(2, sft_refused("no_fde"));
}

/* Guards against: the same without any. */
TEST_F(rows, window_without_functions_ends_the_walk)
{
	const __u8 *text = TEXT(sft_slot_arg.code);
	const struct sft_call call = { text, sft_leaf };
	size_t len = sft_build(self->section, NULL, 0);

	ASSERT_EQ(0, sft_register_text(KEY, self->section, len, text, SFT_SLOT,
				       0));
	EXPECT_AT(text, &call);
	EXPECT_EQ(1, sft_refused("no_fde"));
}

/* Guards against: one byte more or less than the window. */
TEST_F(rows, edges_of_a_window)
{
	__u8 *text = make_slots(&sft_slot_arg, 1);
	const struct sft_fde fde = SFT_FDE(text, SFT_SLOT, sft_slot_arg.rows);
	const struct sft_call call = { text, sft_leaf };
	size_t len = sft_build_small(self->section, &fde, 1);

	ASSERT_EQ(0, sft_register_text(KEY, self->section, len, text, 10, 0));
	/* The function leaves the window: no byte of it is believed. */
	EXPECT_AT(text, &call);
	EXPECT_EQ(1, sft_refused("fde_range"));
	ASSERT_EQ(0, sft_unregister(KEY));

	sft_index(self->section, 0)->func_size = 9;
	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	EXPECT_AT(text + 8, &call, SFT_CALLERS);
	EXPECT_AT(text + 9, &call, SFT_LOST);
	/* The call ends where the window ends: the last byte counts. */
	ASSERT_EQ(0, sft_unregister(KEY));
	sft_index(self->section, 0)->func_size = 8;
	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + 8, SFT_CALLERS);
	EXPECT_AT(text + 8, &call, SFT_LOST);
}

/* Guards against: a walk that does not go back to rows. */
TEST_F(rows, window_frame_pointer_window)
{
	static const __u8 code[] = {
		/* 0: push %rax; 1: call *%r9; 4: pop %rcx; 5: ret */
		0x50, 0x41, 0xff, 0xd1, 0x59, 0xc3, 0xcc, 0xcc,
		/* 8: push %rbp; mov %rsp,%rbp; 12: call 20; 17: pop; ret */
		0x55, 0x48, 0x89, 0xe5, 0xe8, 3, 0, 0, 0, 0x5d, 0xc3, 0xcc,
		/* 20: push %rbp; 21: xor %ebp,%ebp; 23: nop; 24: pop; 25: ret */
		0x55, 0x31, 0xed, 0x90, 0x5d, 0xc3,
	};
	static const struct sft_row upper_rows[] = {
		SFT_SP(0, 8), SFT_SP(1, 16), SFT_SP(5, 8),
	};
	static const struct sft_row lower_rows[] = {
		SFT_SP(0, 8), SFT_SP_FP(1, 16, -16), SFT_SP(5, 8),
	};
	const __u8 *text = TEXT(code);
	const struct sft_fde upper = SFT_FDE(text, 6, upper_rows);
	const struct sft_fde lower = SFT_FDE(text + 20, 6, lower_rows);
	const struct sft_call call = { text, text + 8 };
	__u8 *other = self->section + SFT_PAGE;

	ASSERT_EQ(0, REGISTER(self->section, &upper, 1));
	ASSERT_EQ(0, sft_register(KEY_2, other, BUILD(other, &lower, 1),
				  NULL));
	EXPECT_AT(text + 23, &call, (uintptr_t)text + 17, (uintptr_t)text + 4,
		  SFT_CALLERS);
}

static __u8 *make_table(__u8 *section, unsigned int nr)
{
	struct sft_row (*rows)[3] = calloc(nr, sizeof(*rows));
	struct sft_fde *fdes = calloc(nr, sizeof(*fdes));
	__u8 *text = sft_map(SECTION_SIZE, SFT_RW);
	unsigned int i;
	int ret = -1;

	for (i = 0; rows && fdes && text && i < nr; i++) {
		sft_put_frame_slot(text + i * SFT_SLOT, rows[i],
				   SFT_FRAME_SIZE(i));
		fdes[i] = (struct sft_fde)SFT_FDE(text + i * SFT_SLOT, 12,
						   rows[i]);
	}
	if (i == nr && !mprotect(text, SECTION_SIZE, SFT_RX))
		ret = register_fdes(section, fdes, nr);
	free(rows);
	free(fdes);
	return ret ? NULL : text;
}

FIXTURE(tables)
{
	__u8		*section;
};

FIXTURE_VARIANT(tables)
{
	unsigned int	nr;
	bool		defer;
};

FIXTURE_VARIANT_ADD(tables, one_fp) { 1, false };
FIXTURE_VARIANT_ADD(tables, one_defer) { 1, true };
FIXTURE_VARIANT_ADD(tables, two_fp) { 2, false };
FIXTURE_VARIANT_ADD(tables, two_defer) { 2, true };
FIXTURE_VARIANT_ADD(tables, seven_fp) { 7, false };
FIXTURE_VARIANT_ADD(tables, thousand_fp) { 1000, false };
FIXTURE_VARIANT_ADD(tables, thousand_defer) { 1000, true };

FIXTURE_SETUP(tables)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->section = sft_map(SECTION_SIZE, SFT_RW);
	ASSERT_NE(NULL, self->section);
}

FIXTURE_TEARDOWN(tables)
{
	munmap(self->section, SECTION_SIZE);
}

static void find_all(struct __test_metadata *_metadata, const __u8 *text,
		     unsigned int nr, bool defer)
{
	unsigned int i, step = nr < 100 ? 1 : 37;

	for (i = 0; i < nr; i += step) {
		const __u8 *slot = text + i * SFT_SLOT;
		const struct sft_call call = { slot, sft_leaf };

		EXPECT_WALK(slot, defer, &call, SFT_CALLERS);
		EXPECT_WALK(slot + 4, defer, &call, SFT_CALLERS);
		EXPECT_WALK(slot + 11, defer, &call, SFT_CALLERS);
		EXPECT_WALK(sft_leaf_body, defer, &call,
			    (uintptr_t)slot + 7, SFT_CALLERS);
	}
	/* The last one, whatever the step. */
	const __u8 *slot = text + (nr - 1) * SFT_SLOT;
	const struct sft_call call = { slot, sft_leaf };

	EXPECT_WALK(slot + 4, defer, &call, SFT_CALLERS);
}

/* Guards against: the neighbour's rows, in tables of any size. */
TEST_F(tables, the_right_function_is_found)
{
	__u8 *text = make_table(self->section, variant->nr);

	ASSERT_NE(NULL, text);
	find_all(_metadata, text, variant->nr, variant->defer);
}

/* Guards against: a search that begins where the text was. */
TEST_F(tables, the_right_function_is_found_with_a_bias)
{
	__u8 *text = make_table(self->section, variant->nr);
	__u8 *copy = sft_map(SECTION_SIZE, SFT_RW);
	struct sframe_window_opts opts = {
		.size = sizeof(opts), .text_bias = copy - text,
	};

	ASSERT_NE(NULL, text);
	ASSERT_NE(NULL, copy);
	memcpy(copy, text, SECTION_SIZE);
	ASSERT_EQ(0, mprotect(copy, SECTION_SIZE, SFT_RX));
	ASSERT_EQ(0, sft_register(KEY_2, self->section, SECTION_SIZE, &opts));
	find_all(_metadata, copy, variant->nr, variant->defer);
	find_all(_metadata, text, variant->nr, variant->defer);
}

#define MAX_PUSHES	63

/* @nr - 2 times push %rax; call *%r9; add $N,%rsp; ret: @nr rows. */
static __u8 *make_pushes(__u8 *section, unsigned int nr)
{
	static struct sft_row rows[MAX_PUSHES + 2];
	__u8 code[MAX_PUSHES + 12], *pos, *text;
	unsigned int i;
	struct sft_fde fde;
	__u32 size = 8 * (nr - 2);

	memset(code, 0x50, nr - 2);
	for (i = 0; i < nr - 1; i++)
		rows[i] = (struct sft_row){ i, SFT_WORD2 | 1, 1, { 8 + 8 * i } };
	pos = code + nr - 2;
	memcpy(pos, (__u8[]){ 0x41, 0xff, 0xd1, 0x48, 0x81, 0xc4 }, 6);
	memcpy(pos + 6, &size, 4);
	pos[10] = 0xc3;
	rows[i] = (struct sft_row)SFT_SP(nr - 2 + 10, 8);

	text = sft_map_code(code, nr - 2 + 11, SFT_PAGE);
	if (!text)
		return NULL;
	fde = (struct sft_fde){ .start = text, .size = nr - 2 + 11,
				 .rows = rows, .nr_rows = nr };
	return register_fdes(section, &fde, 1) ? NULL : text;
}

/* Guards against: rows that cross from one chunk to the next. */
TEST_F(rows, sixteen_rows)
{
	const __u8 *text = make_pushes(self->section, 16);
	const struct sft_call call = { text, sft_leaf };
	unsigned int i;

	ASSERT_NE(NULL, text);
	for (i = 0; i <= 14; i++)
		EXPECT_AT(text + i, &call, SFT_CALLERS);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + 17, SFT_CALLERS);
	EXPECT_AT(text + 24, &call, SFT_CALLERS);
}

/* Guards against: the last row that may be looked at. */
TEST_F(rows, sixty_four_rows)
{
	const __u8 *text = make_pushes(self->section, 64);
	const struct sft_call call = { text, sft_leaf };

	ASSERT_NE(NULL, text);
	EXPECT_AT(text, &call, SFT_CALLERS);
	EXPECT_AT(text + 31, &call, SFT_CALLERS);
	EXPECT_AT(text + 62, &call, SFT_CALLERS);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + 65, SFT_CALLERS);
	EXPECT_AT(text + 72, &call, SFT_CALLERS);
	EXPECT_EQ(0, sft_refused("row_count"));
}

/* Guards against: 65535 rows, as earlier series walked through. */
TEST_F(rows, more_than_sixty_four_rows_are_not_walked_through)
{
	const __u8 *text = make_pushes(self->section, 65);
	const struct sft_call call = { text, sft_leaf };

	ASSERT_NE(NULL, text);
	EXPECT_AT(text + 62, &call, SFT_CALLERS);
	EXPECT_EQ(0, sft_refused("row_count"));
	EXPECT_AT(text + 73, &call);
	EXPECT_EQ(1, sft_refused("row_count"));
}

/* Guards against: words of one size taken for another. */
TEST_F(rows, sizes_of_starts_and_words)
{
	static const __u8 word_sizes[] = { SFT_WORD1, SFT_WORD2, SFT_WORD4 };
	const __u8 *text = TEXT(sft_slot_rbp.code);
	const struct sft_call call = { text, sft_leaf };
	unsigned int i, j, type;

	for (i = 0; i < 9; i++) {
		struct sft_row rows[3];
		struct sft_fde fde = SFT_FDE(text, SFT_SLOT, rows);

		type = i / 3;
		memcpy(rows, sft_slot_rbp.rows, sizeof(rows));
		for (j = 0; j < 3; j++)
			rows[j].info |= word_sizes[i % 3];
		fde.info = type;
		ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
		TH_LOG("start size %u, word size %u", 1 << type, 1 << i % 3);
		for (j = 0; j < sft_nr_insns(&sft_slot_rbp); j++)
			EXPECT_AT(text + sft_slot_rbp.insns[j], &call,
				  SFT_CALLERS);
		ASSERT_EQ(0, sft_unregister(KEY));
	}
}

/*
 * Guards against: numbers that fit into fewer bytes.
 * Frames too large for a byte, rows too far for one and two bytes:
 * sub $0x1000,%rsp; nops; call *%r9; add; ret
 */
TEST_F(rows, far_rows_and_large_frames)
{
	static const __u8 head[] = { 0x48, 0x81, 0xec, 0, 0x10, 0, 0 };
	static const __u8 tail[] = {
		0x41, 0xff, 0xd1, 0x48, 0x81, 0xc4, 0, 0x10, 0, 0, 0xc3,
	};
	const size_t far = 0x12000, end = far + sizeof(tail);
	struct sft_row rows[] = {
		{ 0, SFT_WORD4 | 1, 1, { 8 } },
		{ 7, SFT_WORD4 | 1, 1, { 0x1008 } },
		{ far + 10, SFT_WORD2 | 1, 1, { 8 } },
	};
	__u8 *text = sft_map(0x13000, SFT_RW);
	const struct sft_call call = { text, sft_leaf };
	struct sft_fde fde = SFT_FDE(text, end, rows);

	ASSERT_NE(NULL, text);
	memcpy(text, head, sizeof(head));
	memset(text + 7, 0x90, far - 7);
	memcpy(text + far, tail, sizeof(tail));
	ASSERT_EQ(0, mprotect(text, 0x13000, SFT_RX));
	fde.info = SFRAME_FRE_TYPE_ADDR4;
	ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
	EXPECT_AT(text, &call, SFT_CALLERS);
	EXPECT_AT(text + 7, &call, SFT_CALLERS);
	EXPECT_AT(text + far, &call, SFT_CALLERS);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + far + 3, SFT_CALLERS);
	EXPECT_AT(text + far + 10, &call, SFT_CALLERS);
}

/* Guards against: distances of 32 bits, as in version 2. */
TEST_F(rows, section_far_from_its_text)
{
	const __u8 *text = TEXT(sft_slot_arg.code);
	const struct sft_fde fde = SFT_FDE(text, SFT_SLOT, sft_slot_arg.rows);
	const struct sft_call call = { text, sft_leaf };
	__u8 *far = mmap((void *)(1UL << 40), SFT_PAGE, SFT_RW,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0);

	ASSERT_NE(MAP_FAILED, far);
	ASSERT_LT(1L << 32, text - far);
	ASSERT_EQ(0, register_fdes(far, &fde, 1));
	EXPECT_AT(text + 5, &call, SFT_CALLERS);
}

/* Guards against: a section that has to be changed for each place of its text. */
TEST_F(rows, one_section_for_text_at_two_places)
{
	const __u8 *text = TEXT(sft_slot_rbp.code);
	const __u8 *copy = TEXT(sft_slot_rbp.code);
	const struct sft_fde fde = SFT_FDE(text, SFT_SLOT, sft_slot_rbp.rows);
	const struct sft_call call = { text, sft_leaf };
	const struct sft_call call_copy = { copy, sft_leaf };
	struct sframe_window_opts opts = {
		.size = sizeof(opts), .text_bias = copy - text,
	};
	size_t len = BUILD(self->section, &fde, 1);

	ASSERT_EQ(0, mprotect(self->section, SECTION_SIZE, PROT_READ));
	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	ASSERT_EQ(0, sft_register(KEY_2, self->section, len, &opts));
	EXPECT_AT(text + 10, &call, SFT_CALLERS);
	EXPECT_AT(copy + 10, &call_copy, SFT_CALLERS);

	/* A function that is said to be beside the window is not in it. */
	opts.flags = SFRAME_WINDOW_REPLACE;
	opts.text_start = (uintptr_t)copy;
	opts.text_length = SFT_SLOT;
	opts.text_bias++;
	ASSERT_EQ(0, sft_register(KEY_2, self->section, len, &opts));
	EXPECT_AT(text + 10, &call, SFT_CALLERS);
	EXPECT_AT(copy + 10, &call_copy);
	opts.text_bias = 1UL << 63;
	ASSERT_EQ(0, sft_register(KEY_2, self->section, len, &opts));
	EXPECT_AT(copy + 10, &call_copy);
}

/*
 * Guards against: a read that touches the page behind a section.
 * Rows that cross the end of a page, and a section that ends with one: a read
 * must not touch the page behind it, which cannot be read.
 */
TEST_F(rows, section_at_the_end_of_its_mapping)
{
	const __u8 *text = TEXT(sft_slot_rbp.code);
	const struct sft_fde fde = SFT_FDE(text, SFT_SLOT, sft_slot_rbp.rows);
	const struct sft_call call = { text, sft_leaf };
	size_t len = BUILD(self->section, &fde, 1), i;

	ASSERT_EQ(0, mprotect(self->section + 2 * SFT_PAGE, SFT_PAGE,
			      PROT_NONE));
	for (i = 0; i < len; i++) {
		__u8 *sec = self->section + SFT_PAGE - i;

		ASSERT_EQ(0, REGISTER(sec, &fde, 1));
		EXPECT_AT(text + 10, &call, SFT_CALLERS);
		ASSERT_EQ(0, sft_unregister(KEY));
	}
	ASSERT_EQ(0, REGISTER(self->section + 2 * SFT_PAGE - len, &fde, 1));
	EXPECT_AT(text + 10, &call, SFT_CALLERS);
}

/* Guards against: old rows, in the old or in the added text. */
TEST_F(rows, replaced_section_is_used)
{
	__u8 *text = make_slots(&sft_slot_arg, 2);
	const struct sft_row wrong = SFT_OUTERMOST(0);
	const struct sft_fde before = {
		.start = text, .size = SFT_SLOT, .rows = &wrong, .nr_rows = 1,
	};
	const struct sft_fde after = mask_fde(text, 2, &sft_slot_arg);
	const struct sft_call first = { text, sft_leaf };
	const struct sft_call second = { text + SFT_SLOT, sft_leaf };
	__u8 *next = self->section + SFT_PAGE;
	size_t len = BUILD(next, &after, 1);

	ASSERT_EQ(0, REGISTER(self->section, &before, 1));
	EXPECT_AT(text + 5, &first);
	ASSERT_EQ(0, sft_register_text(KEY, next, len, text, 2 * SFT_SLOT,
				       SFRAME_WINDOW_REPLACE));
	memset(self->section, 0, SFT_PAGE);
	EXPECT_AT(text + 5, &first, SFT_CALLERS);
	EXPECT_AT(text + SFT_SLOT + 5, &second, SFT_CALLERS);
}

TEST_HARNESS_MAIN
