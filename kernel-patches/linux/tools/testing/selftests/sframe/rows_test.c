// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Each kind of row and function of the format, tables of all sizes, and walks
 * at the edges of windows, functions and rows.
 */
#include <stdlib.h>

#include "harness.h"

#include "rows.h"

#define KEY		1
#define KEY_2		2
#define SECTION_SIZE	(16 * SFT_PAGE)

FIXTURE(rows)
{
	__u8		*section;
};

FIXTURE_VARIANT(rows)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(rows, fp) { false };
FIXTURE_VARIANT_ADD(rows, defer) { true };

FIXTURE_SETUP(rows)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->section = sft_map(SECTION_SIZE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	ASSERT_EQ(0, sft_register_callees());
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

#define EXPECT_WALK(addr, defer, call, ...) do {			\
	const void *_addr = (addr);					\
	struct sft_chain _chain;					\
									\
	ASSERT_EQ(0, sft_chain_at(_addr, defer, (call), &_chain));	\
	EXPECT_CHAIN(&_chain, (uintptr_t)_addr, ##__VA_ARGS__);		\
} while (0)

#define EXPECT_AT(addr, call, ...)					\
	EXPECT_WALK(addr, variant->defer, call, ##__VA_ARGS__)

static struct sft_fde flex_fde(const __u8 *text, size_t size,
			       const struct sft_row *rows, unsigned int nr)
{
	return (struct sft_fde){
		.start = text, .size = size, .rows = rows, .nr_rows = nr,
		.info2 = SFRAME_FDE_TYPE_FLEX,
	};
}

/* Guards against: refusing a CFA in any register, as in realigned stacks. */
TEST_F(rows, flex_with_a_register_and_with_memory)
{
	const __u8 *text = TEXT(sft_drap_code);
	const struct sft_fde fde = flex_fde(text, sizeof(sft_drap_code),
					    sft_drap_rows,
					    ARRAY_SIZE(sft_drap_rows));
	const struct sft_call call = { text, sft_leaf };
	unsigned int i;

	ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
	for (i = 0; i < sizeof(sft_drap_insns); i++) {
		TH_LOG("instruction at %u", sft_drap_insns[i]);
		EXPECT_AT(text + sft_drap_insns[i], &call, SFT_CALLERS);
	}
	/* Through a frame whose CFA is in memory. */
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + SFT_DRAP_RET,
		  SFT_CALLERS);
}

/* Guards against: using registers that a callee may have overwritten. */
TEST_F(rows, other_registers_only_in_the_topmost_frame)
{
	static const struct sft_row row = SFT_DRAP_ROW;
	const __u8 *text = TEXT(sft_drap_code);
	const struct sft_fde fde = flex_fde(text, sizeof(sft_drap_code), &row,
					    1);
	const struct sft_call call = { text, sft_leaf };

	ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
	EXPECT_AT(text + SFT_DRAP_IN_REG, &call, SFT_CALLERS);
	EXPECT_EQ(0, sft_refused("row_register"));

	/* The register still has it here, but the walk cannot know that. */
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + SFT_DRAP_RET);
	EXPECT_EQ(1, sft_refused("row_register"));
}

/* Guards against: assuming that the return address is in memory. */
TEST_F(rows, flex_return_address_in_a_register)
{
	const __u8 *text = TEXT(sft_ra_code);
	const struct sft_fde fde = flex_fde(text, sizeof(sft_ra_code),
					    sft_ra_rows,
					    ARRAY_SIZE(sft_ra_rows));
	const struct sft_call call = { text, NULL };
	unsigned int i;

	ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
	for (i = 0; i < sizeof(sft_ra_insns); i++) {
		TH_LOG("instruction at %u", sft_ra_insns[i]);
		EXPECT_AT(text + sft_ra_insns[i], &call, SFT_CALLERS);
	}
}

/* Guards against: assuming that the return address is below the CFA. */
TEST_F(rows, flex_return_address_and_fp_relative_to_the_cfa)
{
	const __u8 *text = TEXT(sft_moved_code);
	const struct sft_fde fde = flex_fde(text, sizeof(sft_moved_code),
					    sft_moved_rows,
					    ARRAY_SIZE(sft_moved_rows));
	const struct sft_call call = { text, sft_leaf };
	unsigned int i;

	ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
	for (i = 0; i < sizeof(sft_moved_insns); i++) {
		TH_LOG("instruction at %u", sft_moved_insns[i]);
		EXPECT_AT(text + sft_moved_insns[i], &call, SFT_CALLERS);
	}
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + SFT_MOVED_RET,
		  SFT_CALLERS);
}

/* Guards against: an error for a row without words, as in earlier series. */
TEST_F(rows, undefined_return_address_ends_the_walk)
{
	static const struct sft_row row = SFT_OUTERMOST(0);
	const __u8 *text = TEXT(sft_slot_arg.code);
	const struct sft_fde fde = {
		.start = text, .size = SFT_SLOT, .rows = &row, .nr_rows = 1,
	};
	const struct sft_call call = { text, sft_leaf };

	ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
	EXPECT_AT(text, &call);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + sft_slot_arg.ret);
	/* This is not counted as a refusal. */
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: the same for the FLEX type. */
TEST_F(rows, undefined_return_address_in_some_rows)
{
	const __u8 *insns = sft_slot_arg.insns;
	const struct sft_row rows[] = {
		SFT_FLEX_CALLED(0), SFT_OUTERMOST(insns[2]),
		SFT_FLEX_CALLED(insns[4]),
	};
	const __u8 *text = TEXT(sft_slot_arg.code);
	const struct sft_fde fde = flex_fde(text, SFT_SLOT, rows, 3);
	const struct sft_call call = { text, sft_leaf };

	ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
	EXPECT_AT(text + insns[1], &call, SFT_CALLERS);
	EXPECT_AT(text + insns[2], &call);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + sft_slot_arg.ret);
	EXPECT_AT(text + insns[4], &call, SFT_CALLERS);
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

/* Guards against: using a wrong block at the ends of a large function. */
TEST_F(rows, pcmask_at_each_instruction_of_neighbouring_slots)
{
	static const unsigned int slots[] = { 0, 1, 2, 255, 256, 4094, 4095 };
	__u8 *text = make_slots(&sft_slot_arg, 4096);
	const struct sft_fde fde = mask_fde(text, 4096, &sft_slot_arg);
	unsigned int i, j;

	ASSERT_NE(NULL, text);
	ASSERT_EQ(44 + SFT_SLOT_ARG_LEN,
		  sft_build(self->section, &fde, 1));
	ASSERT_EQ(0, sft_register(KEY, self->section, 44 + SFT_SLOT_ARG_LEN,
				  NULL));
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

/* Guards against: requiring that blocks are powers of two, or aligned. */
TEST_F(rows, pcmask_with_an_odd_block_size)
{
	const size_t size = sizeof(sft_block_code);
	__u8 code[SFT_BLOCK_AT + 3 * size];
	const __u8 *text;
	struct sft_fde fde = SFT_FDE(NULL, 3 * size, sft_block_rows);
	unsigned int i, j;

	memset(code, 0xcc, sizeof(code));
	for (i = 0; i < 3; i++)
		memcpy(code + SFT_BLOCK_AT + i * size, sft_block_code, size);
	text = TEXT(code);
	fde.start = text + SFT_BLOCK_AT;
	fde.info = SFRAME_FDE_PCMASK;
	fde.rep_size = size;
	ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
	for (i = 0; i < 3; i++) {
		const __u8 *block = text + SFT_BLOCK_AT + i * size;
		const struct sft_call call = { block, sft_leaf };

		for (j = 0; j < sizeof(sft_block_insns); j++)
			EXPECT_AT(block + sft_block_insns[j], &call,
				  SFT_CALLERS);
		EXPECT_AT(sft_leaf_body, &call,
			  (uintptr_t)block + SFT_BLOCK_RET, SFT_CALLERS);
	}
}

/* Guards against: guessing a caller where a window has no function. */
TEST_F(rows, gap_between_functions_ends_the_walk)
{
	__u8 *text = make_slots(&sft_slot_arg, 3);
	const struct sft_fde fdes[] = {
		SFT_SLOT_FDE(text, sft_slot_arg),
		SFT_SLOT_FDE(text + 2 * SFT_SLOT, sft_slot_arg),
	};
	const struct sft_call call = { text + SFT_SLOT, sft_leaf };

	ASSERT_EQ(0, register_fdes(self->section, fdes, 2));
	EXPECT_AT(call.entry, &call);
	EXPECT_EQ(1, sft_refused("no_fde"));
	EXPECT_AT(sft_leaf_body, &call,
		  (uintptr_t)call.entry + sft_slot_arg.ret);
	EXPECT_EQ(2, sft_refused("no_fde"));
}

/* Guards against: the same before the first and after the last function. */
TEST_F(rows, window_larger_than_its_functions)
{
	__u8 *text = make_slots(&sft_slot_arg, 3);
	const struct sft_fde fde = SFT_SLOT_FDE(text + SFT_SLOT, sft_slot_arg);
	const struct sft_call first = { text, sft_leaf };
	const struct sft_call mid = { text + SFT_SLOT, sft_leaf };
	const struct sft_call last = { text + 2 * SFT_SLOT, sft_leaf };
	size_t len = sft_build(self->section, &fde, 1);

	ASSERT_EQ(0, sft_register_text(KEY, self->section, len, text,
				       3 * SFT_SLOT, 0));
	EXPECT_AT(first.entry, &first);
	EXPECT_AT(mid.entry, &mid, SFT_CALLERS);
	EXPECT_AT(last.entry, &last);
	EXPECT_EQ(2, sft_refused("no_fde"));
}

/* Guards against: the same in a window without any function. */
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

/* Guards against: off-by-one errors at the end of a window. */
TEST_F(rows, edges_of_a_window)
{
	__u8 *text = make_slots(&sft_slot_arg, 1);
	const struct sft_fde fde = SFT_SLOT_FDE(text, sft_slot_arg);
	const struct sft_call call = { text, sft_leaf };
	size_t len = sft_build(self->section, &fde, 1);
	/* The instruction after the call, and the last one. */
	const __u8 ret = sft_slot_arg.ret, last = sft_slot_arg.insns[4];

	ASSERT_EQ(0, sft_register_text(KEY, self->section, len, text, last + 1,
				       0));
	/* The function exceeds the window: none of it is used. */
	EXPECT_AT(text, &call);
	EXPECT_EQ(1, sft_refused("fde_range"));
	ASSERT_EQ(0, sft_unregister(KEY));

	sft_index(self->section, 0)->func_size = last;
	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	EXPECT_AT(text + ret, &call, SFT_CALLERS);
	EXPECT_AT(text + last, &call, SFT_RETURNING);
	/* The call ends where the window ends: its last byte is looked up. */
	ASSERT_EQ(0, sft_unregister(KEY));
	sft_index(self->section, 0)->func_size = ret;
	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + ret, SFT_CALLERS);
	EXPECT_AT(text + ret, &call, SFT_SLOT_LOST);
}

/* Guards against: a walk that uses no rows after a step by frame pointer. */
TEST_F(rows, window_frame_pointer_window)
{
	const __u8 *text = TEXT(sft_mixed_code), *lower = text + SFT_LOWER;
	const struct sft_fde upper_fde = SFT_FDE(text, SFT_UPPER_SIZE,
						 sft_upper_rows);
	const struct sft_fde lower_fde = SFT_FDE(lower, SFT_LOWER_SIZE,
						 sft_lower_rows);
	const struct sft_call call = { text, text + SFT_MIDDLE };
	__u8 *other = self->section + SFT_PAGE;

	ASSERT_EQ(0, register_fdes(self->section, &upper_fde, 1));
	ASSERT_EQ(0, sft_register(KEY_2, other, sft_build(other, &lower_fde, 1),
				  NULL));
	EXPECT_AT(text + SFT_LOWER_NOP, &call, (uintptr_t)text + SFT_MIDDLE_RET,
		  (uintptr_t)text + SFT_UPPER_RET, SFT_CALLERS);
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
		fdes[i] = (struct sft_fde)SFT_FDE(text + i * SFT_SLOT,
						   SFT_FRAME_SLOT_SIZE,
						   rows[i]);
	}
	__builtin___clear_cache(text, text + SECTION_SIZE);
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
	ASSERT_EQ(0, sft_register_callees());
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
		EXPECT_WALK(slot + SFT_FRAME_SLOT_CALL, defer, &call,
			    SFT_CALLERS);
		EXPECT_WALK(slot + SFT_FRAME_SLOT_LAST, defer, &call,
			    SFT_CALLERS);
		EXPECT_WALK(sft_leaf_body, defer, &call,
			    (uintptr_t)slot + SFT_FRAME_SLOT_RET, SFT_CALLERS);
	}
	/* Always test the last one. */
	const __u8 *slot = text + (nr - 1) * SFT_SLOT;
	const struct sft_call call = { slot, sft_leaf };

	EXPECT_WALK(slot + SFT_FRAME_SLOT_CALL, defer, &call, SFT_CALLERS);
}

/* Guards against: using the rows of a neighbouring function. */
TEST_F(tables, the_right_function_is_found)
{
	__u8 *text = make_table(self->section, variant->nr);

	ASSERT_NE(NULL, text);
	find_all(_metadata, text, variant->nr, variant->defer);
}

/* Guards against: a search that ignores the bias. */
TEST_F(tables, the_right_function_is_found_with_a_bias)
{
	__u8 *text = make_table(self->section, variant->nr);
	__u8 *copy = sft_map(SECTION_SIZE, SFT_RW);
	struct sframe_window_opts opts = {
		.size = sizeof(opts), .text_bias = copy - text,
	};

	ASSERT_NE(NULL, text);
	ASSERT_NE(NULL, copy);
	sft_put_code(copy, text, SECTION_SIZE);
	ASSERT_EQ(0, mprotect(copy, SECTION_SIZE, SFT_RX));
	ASSERT_EQ(0, sft_register(KEY_2, self->section, SECTION_SIZE, &opts));
	find_all(_metadata, copy, variant->nr, variant->defer);
	find_all(_metadata, text, variant->nr, variant->defer);
}

#define MAX_PUSH_ROWS	175

/* A function with many rows. A push ends each of them. */
struct pushes {
	const __u8	*text, *call, *last;
};

static struct pushes make_pushes(__u8 *section, unsigned int nr)
{
	static struct sft_row rows[MAX_PUSH_ROWS];
	const size_t at = SFT_PUSH_ROW(nr - 2), size = at + SFT_PUSHES_SIZE;
	__u8 code[SFT_PUSH_ROW(MAX_PUSH_ROWS) + SFT_PUSHES_SIZE], *text;
	struct sft_fde fde;

	sft_put_pushes(code, rows, nr);
	text = sft_map_code(code, size, SFT_PAGE);
	if (!text)
		return (struct pushes){ NULL };
	fde = (struct sft_fde){ .start = text, .size = size, .rows = rows,
				 .nr_rows = nr, .info = SFT_PUSHES_INFO };
	if (register_fdes(section, &fde, 1))
		return (struct pushes){ NULL };
	return (struct pushes){ text, text + at, text + at + SFT_PUSHES_LAST };
}

/* Guards against: misreading a row that crosses from one chunk to the next. */
TEST_F(rows, sixteen_rows)
{
	const struct pushes fn = make_pushes(self->section, 16);
	const struct sft_call call = { fn.text, sft_leaf };
	unsigned int i;

	ASSERT_NE(NULL, fn.text);
	for (i = 0; i <= 14; i++)
		EXPECT_AT(fn.text + SFT_PUSH_ROW(i), &call, SFT_CALLERS);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)fn.call + SFT_PUSHES_RET,
		  SFT_CALLERS);
	EXPECT_AT(fn.last, &call, SFT_CALLERS);
}

/* Guards against: a limit on rows that functions of libstdc++ exceed. */
TEST_F(rows, many_rows)
{
	const struct pushes fn = make_pushes(self->section, MAX_PUSH_ROWS);
	const struct sft_call call = { fn.text, sft_leaf };
	unsigned int i;

	ASSERT_NE(NULL, fn.text);
	for (i = 0; i < MAX_PUSH_ROWS - 2; i += 31)
		EXPECT_AT(fn.text + SFT_PUSH_ROW(i), &call, SFT_CALLERS);
	EXPECT_AT(fn.call, &call, SFT_CALLERS);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)fn.call + SFT_PUSHES_RET,
		  SFT_CALLERS);
	EXPECT_AT(fn.last, &call, SFT_CALLERS);
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: reading starts or words with a wrong size. */
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
 * Guards against: truncating numbers to fewer bytes.
 * The frames are too large for one byte, the row starts for one or two.
 */
TEST_F(rows, far_rows_and_large_frames)
{
	const size_t map_size = 0x13000, nop = sizeof(sft_far_nop);
	__u8 *text = sft_map(map_size, SFT_RW);
	const struct sft_call call = { text, sft_leaf };
	struct sft_fde fde = SFT_FDE(text, SFT_FAR + sizeof(sft_far_tail),
				     sft_far_rows);
	size_t at;

	ASSERT_NE(NULL, text);
	ASSERT_GE(map_size, fde.size);
	sft_put_code(text, sft_far_head, sizeof(sft_far_head));
	for (at = sizeof(sft_far_head); at < SFT_FAR; at += nop)
		sft_put_code(text + at, sft_far_nop, nop);
	sft_put_code(text + SFT_FAR, sft_far_tail, sizeof(sft_far_tail));
	ASSERT_EQ(0, mprotect(text, map_size, SFT_RX));
	fde.info = SFRAME_FRE_TYPE_ADDR4;
	ASSERT_EQ(0, register_fdes(self->section, &fde, 1));
	EXPECT_AT(text, &call, SFT_CALLERS);
	EXPECT_AT(text + sizeof(sft_far_head), &call, SFT_CALLERS);
	EXPECT_AT(text + SFT_FAR, &call, SFT_CALLERS);
	EXPECT_AT(sft_leaf_body, &call, (uintptr_t)text + SFT_FAR + SFT_FAR_RET,
		  SFT_CALLERS);
	EXPECT_AT(text + SFT_FAR + SFT_FAR_LAST, &call, SFT_CALLERS);
}

/* Guards against: truncating distances to 32 bits, as in version 2. */
TEST_F(rows, section_far_from_its_text)
{
	const __u8 *text = TEXT(sft_slot_arg.code);
	const struct sft_fde fde = SFT_SLOT_FDE(text, sft_slot_arg);
	const struct sft_call call = { text, sft_leaf };
	__u8 *far = mmap((void *)(1UL << 40), SFT_PAGE, SFT_RW,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0);

	ASSERT_NE(MAP_FAILED, far);
	ASSERT_LT(1L << 32, text - far);
	ASSERT_EQ(0, register_fdes(far, &fde, 1));
	EXPECT_AT(text + sft_slot_arg.insns[2], &call, SFT_CALLERS);
}

/* Guards against: needing a changed section for each copy of the text. */
TEST_F(rows, one_section_for_text_at_two_places)
{
	const __u8 *text = TEXT(sft_slot_rbp.code);
	const __u8 *copy = TEXT(sft_slot_rbp.code);
	const struct sft_fde fde = SFT_SLOT_FDE(text, sft_slot_rbp);
	const struct sft_call call = { text, sft_leaf };
	const struct sft_call call_copy = { copy, sft_leaf };
	struct sframe_window_opts opts = {
		.size = sizeof(opts), .text_bias = copy - text,
	};
	size_t len = sft_build(self->section, &fde, 1);

	ASSERT_EQ(0, mprotect(self->section, SECTION_SIZE, PROT_READ));
	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	ASSERT_EQ(0, sft_register(KEY_2, self->section, len, &opts));
	EXPECT_AT(text + sft_slot_rbp.ret, &call, SFT_CALLERS);
	EXPECT_AT(copy + sft_slot_rbp.ret, &call_copy, SFT_CALLERS);

	/* With a wrong bias, the function exceeds the window or is outside. */
	opts.flags = SFRAME_WINDOW_REPLACE;
	opts.text_start = (uintptr_t)copy;
	opts.text_length = SFT_SLOT;
	opts.text_bias++;
	ASSERT_EQ(0, sft_register(KEY_2, self->section, len, &opts));
	EXPECT_AT(text + sft_slot_rbp.ret, &call, SFT_CALLERS);
	EXPECT_AT(copy + sft_slot_rbp.ret, &call_copy);
	opts.text_bias = 1UL << 63;
	ASSERT_EQ(0, sft_register(KEY_2, self->section, len, &opts));
	EXPECT_AT(copy + sft_slot_rbp.ret, &call_copy);
}

/*
 * Guards against: a read past the end of a section.
 * Its rows cross into the next page, or it ends with its page: a read must not
 * touch the page after it, which is not readable.
 */
TEST_F(rows, section_at_the_end_of_its_mapping)
{
	const __u8 *text = TEXT(sft_slot_rbp.code);
	const struct sft_fde fde = SFT_SLOT_FDE(text, sft_slot_rbp);
	const struct sft_call call = { text, sft_leaf };
	size_t len = sft_build(self->section, &fde, 1), i;

	ASSERT_EQ(0, mprotect(self->section + 2 * SFT_PAGE, SFT_PAGE,
			      PROT_NONE));
	for (i = 0; i < len; i++) {
		__u8 *sec = self->section + SFT_PAGE - i;

		ASSERT_EQ(0, register_fdes(sec, &fde, 1));
		EXPECT_AT(text + sft_slot_rbp.ret, &call, SFT_CALLERS);
		ASSERT_EQ(0, sft_unregister(KEY));
	}
	ASSERT_EQ(0, register_fdes(self->section + 2 * SFT_PAGE - len, &fde, 1));
	EXPECT_AT(text + sft_slot_rbp.ret, &call, SFT_CALLERS);
}

/* Guards against: using old rows after REPLACE, in old or added text. */
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
	const __u8 call_off = sft_slot_arg.insns[2];
	size_t len = sft_build(next, &after, 1);

	ASSERT_EQ(0, register_fdes(self->section, &before, 1));
	EXPECT_AT(text + call_off, &first);
	ASSERT_EQ(0, sft_register_text(KEY, next, len, text, 2 * SFT_SLOT,
				       SFRAME_WINDOW_REPLACE));
	memset(self->section, 0, SFT_PAGE);
	EXPECT_AT(text + call_off, &first, SFT_CALLERS);
	EXPECT_AT(text + SFT_SLOT + call_off, &second, SFT_CALLERS);
}

TEST_HARNESS_MAIN
