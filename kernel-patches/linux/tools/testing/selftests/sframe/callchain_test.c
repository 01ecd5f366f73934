// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The callchain at each instruction of each kind of trampoline, and of its
 * callee, is the true stack; without a window exactly the caller is lost.
 */
#include "harness.h"

#include "slots.h"

#define KEY_SLOT	1
#define KEY_LEAF	2

FIXTURE(slot)
{
	__u8		*text;
	__u8		*section;
	struct sft_call	call;
};

FIXTURE_VARIANT(slot)
{
	const struct sft_slot	*kind;
	bool			defer;
};

FIXTURE_VARIANT_ADD(slot, arg_fp) { &sft_slot_arg, false };
FIXTURE_VARIANT_ADD(slot, arg_defer) { &sft_slot_arg, true };
FIXTURE_VARIANT_ADD(slot, data_fp) { &sft_slot_data, false };
FIXTURE_VARIANT_ADD(slot, data_defer) { &sft_slot_data, true };
FIXTURE_VARIANT_ADD(slot, rbp_fp) { &sft_slot_rbp, false };
FIXTURE_VARIANT_ADD(slot, rbp_defer) { &sft_slot_rbp, true };
#ifdef SFT_ROW_RA
FIXTURE_VARIANT_ADD(slot, record_fp) { &sft_slot_record, false };
FIXTURE_VARIANT_ADD(slot, record_defer) { &sft_slot_record, true };
#endif
#ifdef SFT_SIGNED
FIXTURE_VARIANT_ADD(slot, signed_a_fp) { &sft_slot_signed_a, false };
FIXTURE_VARIANT_ADD(slot, signed_a_defer) { &sft_slot_signed_a, true };
FIXTURE_VARIANT_ADD(slot, signed_b_fp) { &sft_slot_signed_b, false };
FIXTURE_VARIANT_ADD(slot, signed_b_defer) { &sft_slot_signed_b, true };
#endif

FIXTURE_SETUP(slot)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->text = sft_make_slot(variant->kind, sft_leaf);
	ASSERT_NE(NULL, self->text);
	self->section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->call.entry = self->text;
	self->call.target = sft_leaf;
}

FIXTURE_TEARDOWN(slot)
{
	munmap(self->text, SFT_SLOT_MAP);
	munmap(self->section, SFT_PAGE);
}

static int register_fde(unsigned long key, __u8 *section,
			const struct sft_fde *fde)
{
	return sft_register(key, section, sft_build(section, fde, 1),
			    NULL);
}

static int register_slot(const struct sft_slot *kind, __u8 *section,
			 const void *text)
{
	const struct sft_fde fde = {
		.start = text,
		.size = SFT_SLOT,
		.rows = kind->rows,
		.nr_rows = kind->nr_rows,
		.info = kind->info,
	};

	return register_fde(KEY_SLOT, section, &fde);
}

static int register_leaf(__u8 *section)
{
	const struct sft_fde fde = SFT_FDE(sft_leaf, sft_leaf_end - sft_leaf,
					   sft_leaf_rows);

	return register_fde(KEY_LEAF, section, &fde);
}

/* Guards against: a row one instruction early or late. */
TEST_F(slot, each_instruction_has_the_true_stack)
{
	const struct sft_slot *kind = variant->kind;
	struct sft_chain chain;
	unsigned int i;

	ASSERT_EQ(0, register_slot(kind, self->section, self->text));
	for (i = 0; i < sft_nr_insns(kind); i++) {
		const __u8 *ip = self->text + kind->insns[i];

		TH_LOG("instruction at %u", kind->insns[i]);
		ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &self->call,
					  &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	}
}

/* Guards against: losing a trampoline's caller in a walk from its callee. */
TEST_F(slot, each_instruction_of_the_callee_has_the_true_stack)
{
	uintptr_t ret = (uintptr_t)self->text + variant->kind->ret;
	struct sft_chain chain;
	unsigned int i;

	ASSERT_EQ(0, register_slot(variant->kind, self->section, self->text));
	ASSERT_EQ(0, register_leaf(self->section + SFT_PAGE / 2));
	for (i = 0; i < ARRAY_SIZE(sft_leaf_insns); i++) {
		const char *ip = sft_leaf + sft_leaf_insns[i];

		TH_LOG("instruction at %u", sft_leaf_insns[i]);
		ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &self->call,
					  &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, ret, SFT_CALLERS);
	}
}

/* Guards against: a row that does not restore the frame pointer. */
TEST_F(slot, callee_with_frame_pointer_and_no_window)
{
	uintptr_t ret = (uintptr_t)self->text + variant->kind->ret;
	struct sft_chain chain;
	unsigned int i;

	ASSERT_EQ(0, register_slot(variant->kind, self->section, self->text));
	/* A second walk must find the same stack. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer,
					  &self->call, &chain));
		/* How much the step gives depends on the machine. */
		if (sft_known_behind(variant->kind)) {
			EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body, ret,
				     SFT_CALLERS);
		} else {
			EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body, ret);
			EXPECT_EQ(i + 1, sft_refused("row_register"));
		}
	}
}

/* Guards against: the same between two functions with windows. */
TEST_F(slot, function_with_frame_pointer_and_no_window_in_between)
{
	uintptr_t ret = (uintptr_t)self->text + variant->kind->ret;
	struct sft_chain chain;
	unsigned int i;

	self->call.target = sft_pass;
	if (variant->kind->data)
		memcpy(self->text + SFT_PAGE, &self->call.target,
		       sizeof(self->call.target));
	ASSERT_EQ(0, register_slot(variant->kind, self->section, self->text));
	ASSERT_EQ(0, register_leaf(self->section + SFT_PAGE / 2));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer,
					  &self->call, &chain));
		if (sft_known_behind(variant->kind)) {
			EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
				     (uintptr_t)sft_pass_ret, ret,
				     SFT_CALLERS);
		} else {
			EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
				     (uintptr_t)sft_pass_ret, ret);
		}
	}
}

/*
 * If the frame pointer is the address of sft_leaf, perf takes the code for a
 * frame. It reports the second word; the first is not a valid address and ends
 * the stack. A deferred walk refuses the frame, which is below the stack.
 */
static void expect_garbage(struct __test_metadata *_metadata,
			   struct sft_chain *chain, unsigned int known,
			   bool none)
{
	__u64 words[2];

	memcpy(words, sft_leaf, sizeof(words));
	if (none) {
		EXPECT_EQ(known, chain->nr);
		return;
	}
	EXPECT_EQ(known + 1, chain->nr);
	EXPECT_EQ(sft_strip(words[1]), chain->ip[known]);
}

static bool is_between(const __u8 *offs, unsigned int off)
{
	return off >= offs[0] && off < offs[1];
}

/* Guards against: tests that cannot fail: here the caller must be lost. */
TEST_F(slot, without_window_the_caller_is_lost)
{
	const struct sft_slot *kind = variant->kind;
	struct sft_chain chain;
	unsigned int i;

	for (i = 0; i < sft_nr_insns(kind); i++) {
		uintptr_t ip = (uintptr_t)self->text + kind->insns[i];

		TH_LOG("instruction at %u", kind->insns[i]);
		ASSERT_EQ(0, sft_chain_at((void *)ip, variant->defer,
					  &self->call, &chain));
		if (is_between(kind->fp_lost, kind->insns[i])) {
			EXPECT_EQ(ip, chain.ip[0]);
			expect_garbage(_metadata, &chain, 1,
				       variant->defer || SFT_LOST_ENDS);
		} else if (is_between(kind->record, kind->insns[i])) {
			EXPECT_CHAIN(&chain, ip, SFT_CALLERS);
		} else {
			EXPECT_CHAIN(&chain, ip, SFT_LOST);
		}
	}
}

/* Guards against: the same in a walk from a callee. */
TEST_F(slot, without_window_the_callee_loses_the_caller)
{
	uintptr_t ret = (uintptr_t)self->text + variant->kind->ret;
	struct sft_chain chain;

	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, &self->call,
				  &chain));
	if (is_between(variant->kind->fp_lost, variant->kind->ret)) {
		EXPECT_EQ(ret, chain.ip[1]);
		expect_garbage(_metadata, &chain, 2,
			       variant->defer || SFT_FP_GOES_UP);
	} else if (is_between(variant->kind->record, variant->kind->ret)) {
		EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body, ret,
			     SFT_CALLERS);
	} else {
		EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body, ret, SFT_LOST);
	}
}

/* Guards against: a window that is used after it was removed. */
TEST_F(slot, unregistered_window_is_not_used)
{
	uintptr_t ip = (uintptr_t)self->text;
	struct sft_chain chain;

	ASSERT_EQ(0, register_slot(variant->kind, self->section, self->text));
	ASSERT_EQ(0, sft_unregister(KEY_SLOT));
	ASSERT_EQ(0, sft_chain_at(self->text, variant->defer, &self->call,
				  &chain));
	EXPECT_CHAIN(&chain, ip, SFT_LOST);
}

/* Guards against: a window that changes stacks of other code. */
TEST_F(slot, foreign_window_changes_nothing)
{
	uintptr_t ip = (uintptr_t)self->text;
	struct sft_chain chain;

	ASSERT_EQ(0, register_leaf(self->section));
	ASSERT_EQ(0, sft_chain_at(self->text, variant->defer, &self->call,
				  &chain));
	EXPECT_CHAIN(&chain, ip, SFT_LOST);
}

FIXTURE(calls)
{
	__u8		*text;
	__u8		*section;
};

FIXTURE_VARIANT(calls)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(calls, fp) { .defer = false };
FIXTURE_VARIANT_ADD(calls, defer) { .defer = true };

FIXTURE_SETUP(calls)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->text = sft_map_code(sft_noreturn_code, sizeof(sft_noreturn_code),
				  SFT_PAGE);
	ASSERT_NE(NULL, self->text);
	self->section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
}

FIXTURE_TEARDOWN(calls)
{
	munmap(self->text, SFT_PAGE);
	munmap(self->section, SFT_PAGE);
}

static void check_noreturn(struct __test_metadata *_metadata,
			   const __u8 *text, bool defer)
{
	const struct sft_call call = { text, sft_escape };
	struct sft_chain chain;

	ASSERT_EQ(0, sft_chain_at(sft_escape_body, defer, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_escape_body,
		     (uintptr_t)text + SFT_NORETURN_SIZE, SFT_CALLERS);

	/* The call itself, as the topmost address. */
	ASSERT_EQ(0, sft_chain_at(text + SFT_NORETURN_CALL, defer, &call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)text + SFT_NORETURN_CALL, SFT_CALLERS);
}

/* Guards against: looking up the return address, as in earlier series. */
TEST_F(calls, last_instruction_then_another_function)
{
	const struct sft_fde fdes[] = {
		SFT_FDE(self->text, SFT_NORETURN_SIZE, sft_noreturn_rows),
		SFT_FDE(self->text + SFT_NORETURN_SIZE, SFT_NEXT_SIZE,
			sft_next_rows),
	};
	size_t len = sft_build(self->section, fdes, 2);

	ASSERT_EQ(0, sft_register(KEY_SLOT, self->section, len, NULL));
	check_noreturn(_metadata, self->text, variant->defer);
}

/* Guards against: the same if no window covers that address. */
TEST_F(calls, last_instruction_then_the_end_of_the_window)
{
	const struct sft_fde fde = SFT_FDE(self->text, SFT_NORETURN_SIZE,
					   sft_noreturn_rows);

	ASSERT_EQ(0, register_fde(KEY_SLOT, self->section, &fde));
	check_noreturn(_metadata, self->text, variant->defer);
}

/* Guards against: the same if another window covers that address. */
TEST_F(calls, last_instruction_then_a_touching_window)
{
	const struct sft_fde first = SFT_FDE(self->text, SFT_NORETURN_SIZE,
					     sft_noreturn_rows);
	const struct sft_fde next = SFT_FDE(self->text + SFT_NORETURN_SIZE,
					    SFT_NEXT_SIZE, sft_next_rows);

	ASSERT_EQ(0, register_fde(KEY_SLOT, self->section, &first));
	ASSERT_EQ(0, register_fde(KEY_LEAF, self->section + SFT_PAGE / 2,
				  &next));
	check_noreturn(_metadata, self->text, variant->defer);
}

/* Guards against: looking up the byte before a sampled address. */
TEST_F(calls, topmost_address_is_looked_up_as_it_is)
{
	const struct sft_fde fdes[] = {
		SFT_FDE(self->text, SFT_NORETURN_SIZE, sft_noreturn_rows),
		SFT_FDE(self->text + SFT_NORETURN_SIZE, SFT_NEXT_SIZE,
			sft_next_rows),
	};
	const struct sft_call call = { self->text + SFT_NORETURN_SIZE, NULL };
	size_t len = sft_build(self->section, fdes, 2);
	struct sft_chain chain;

	ASSERT_EQ(0, sft_register(KEY_SLOT, self->section, len, NULL));
	ASSERT_EQ(0, sft_chain_at(call.entry, variant->defer, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)call.entry, SFT_CALLERS);
}

#ifdef SFT_POPS
/* Guards against: using the row after the call for a caller. */
TEST_F(calls, row_changes_with_the_return)
{
	const __u8 *text = sft_map_code(sft_popped_code, sizeof(sft_popped_code),
					   SFT_PAGE);
	const struct sft_fde fde = SFT_FDE(text, sizeof(sft_popped_code),
					   sft_popped_rows);
	const struct sft_call call = { text, sft_leaf_pop };
	struct sft_chain chain;

	ASSERT_NE(NULL, text);
	ASSERT_EQ(0, register_fde(KEY_SLOT, self->section, &fde));
	ASSERT_EQ(0, sft_chain_at(sft_leaf_pop_body, variant->defer, &call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_pop_body,
		     (uintptr_t)text + 4, SFT_CALLERS);

	/* If the address after the call is sampled, the next row applies. */
	ASSERT_EQ(0, sft_chain_at(text + 4, variant->defer, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)text + 4, SFT_CALLERS);
}
#endif

#ifdef SFT_ROW_RA
/* The walk at the first instruction of a function with this row. */
static int walk_by_row(__u8 *section, const __u8 *text,
		       const struct sft_row *row, bool defer,
		       struct sft_chain *chain)
{
	const struct sft_call call = { text + SFT_NORETURN_SIZE, NULL };
	const struct sft_fde fde = {
		.start = call.entry, .size = SFT_NEXT_SIZE, .rows = row,
		.nr_rows = 1,
	};
	int ret = register_fde(KEY_SLOT, section, &fde);

	if (!ret)
		ret = sft_chain_at(call.entry, defer, &call, chain);
	return ret ?: sft_unregister(KEY_SLOT);
}

/* Guards against: a return address that is loaded from the CFA itself. */
TEST_F(calls, word_0_for_the_return_address)
{
	static const struct sft_row padding = SFT_ROW_PADDED;
	static const struct sft_row alone = SFT_ROW_PADDED_ALONE;
	const __u64 ip = (uintptr_t)self->text + SFT_NORETURN_SIZE;
	struct sft_chain chain;

	/* Before a word for the frame pointer, it means the link register. */
	ASSERT_EQ(0, walk_by_row(self->section, self->text, &padding,
				 variant->defer, &chain));
	EXPECT_CHAIN(&chain, ip, (uintptr_t)sft_inner_ret, SFT_PADDED_LEFT);
	ASSERT_EQ(0, walk_by_row(self->section, self->text, &alone,
				 variant->defer, &chain));
	EXPECT_CHAIN(&chain, ip);
	EXPECT_EQ(1, sft_refused("row_words"));
}
#endif

#if SFT_CFA_SCALE > 1
/* Guards against: a CFA offset that wraps and changes the row's meaning. */
TEST_F(calls, scaled_offset_has_more_than_32_bits)
{
	static const struct sft_row rows[] = {
		{ 0, 1 | SFT_WORD4, 1, { INT32_MAX / 8 } },
		{ 0, 1 | SFT_WORD4, 1, { INT32_MIN / 8 - 21 } },
	};
	const __u64 ip = (uintptr_t)self->text + SFT_NORETURN_SIZE;
	struct sft_chain chain;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ASSERT_EQ(0, walk_by_row(self->section, self->text, &rows[i],
					 variant->defer, &chain));
		EXPECT_CHAIN(&chain, ip);
		EXPECT_EQ(i + 1, sft_refused("row_rule"));
	}
}

/* Guards against: an endless walk through a frame of size 0. */
TEST_F(calls, only_the_topmost_function_has_no_frame)
{
	static const struct sft_row row = SFT_ROW_RA(0, 1, 160, SFT_R14);
	const struct sft_fde fde = {
		.start = self->text, .size = SFT_NORETURN_SIZE, .rows = &row,
		.nr_rows = 1,
	};
	const struct sft_call call = { self->text, sft_escape };
	const __u64 ret = (uintptr_t)self->text + SFT_NORETURN_SIZE;
	struct sft_chain chain;
	unsigned int i;

	ASSERT_EQ(0, register_fde(KEY_SLOT, self->section, &fde));
	/* After its first instruction it has no frame, but is topmost. */
	ASSERT_EQ(0, sft_chain_at(self->text + 6, variant->defer, &call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)self->text + 6, SFT_CALLERS);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, sft_chain_at(sft_escape_body, variant->defer,
					  &call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)sft_escape_body, ret);
		EXPECT_EQ(i + 1, sft_refused("cfa_order"));
	}
}
#endif

#ifdef SFT_BACK_CHAIN
/* Guards against: reporting an odd address, with or without a window. */
TEST_F(calls, back_chain_to_an_odd_address)
{
	const struct sft_call call = { sft_odd, NULL };
	struct sft_chain chain;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, sft_chain_at(sft_odd_body, variant->defer, &call,
					  &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)sft_odd_body);
		if (!i)
			ASSERT_EQ(0, register_leaf(self->section));
	}
}

/* Guards against: ending the stack in the vDSO, where the back chain ends. */
TEST_F(calls, back_chain_through_the_vdso)
{
	const __u8 *function = sft_vdso_function();
	const struct sft_call call = { sft_vdso, function };
	const __u8 *ips[2];
	struct sft_chain chain;
	unsigned int i;

	ASSERT_NE(NULL, function);
	ips[0] = function + SFT_VDSO_BRASL;
	ips[1] = sft_vdso_callee(function);
	for (i = 0; i < 4; i++) {
		const __u8 *ip = ips[i % 2];

		ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, (uintptr_t)sft_vdso_ret,
			     SFT_CALLERS);
		if (i == 1)
			ASSERT_EQ(0, register_leaf(self->section));
	}
}
#endif

#ifdef SFT_REGS_LEAF
/* A function that saves RA and FP in registers @ra and @fp; a slot calls it. */
static void check_regs_leaf(struct __test_metadata *_metadata,
			    __u8 *section, unsigned int ra, unsigned int fp,
			    bool defer)
{
	__u8 *slot = sft_make_slot(&sft_slot_record, NULL);
	struct sft_regs_leaf leaf = sft_make_regs_leaf(ra, fp);
	__u8 *text = sft_map_code(leaf.code, sizeof(leaf.code), SFT_PAGE);
	const struct sft_call call = { slot, text };
	const struct sft_fde fde = {
		.start = text, .size = sizeof(leaf.code), .rows = leaf.rows,
		.nr_rows = ARRAY_SIZE(leaf.rows),
		.info2 = SFRAME_FDE_TYPE_FLEX,
	};
	struct sft_chain chain;
	unsigned int i;

	ASSERT_NE(NULL, slot);
	ASSERT_NE(NULL, text);
	ASSERT_EQ(0, register_slot(&sft_slot_record, section, slot));
	ASSERT_EQ(0, register_fde(KEY_LEAF, section + SFT_PAGE / 2, &fde));
	for (i = 0; i < sizeof(sft_regs_insns); i++) {
		const __u8 *ip = text + sft_regs_insns[i];

		TH_LOG("registers %u and %u, instruction at %u", ra, fp,
		       sft_regs_insns[i]);
		ASSERT_EQ(0, sft_chain_at(ip, defer, &call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip,
			     (uintptr_t)slot + sft_slot_record.ret,
			     SFT_CALLERS);
	}
	ASSERT_EQ(0, sft_unregister(KEY_SLOT));
	ASSERT_EQ(0, sft_unregister(KEY_LEAF));
	munmap(text, SFT_PAGE);
	munmap(slot, SFT_SLOT_MAP);
}

/* Guards against: reading user registers that the kernel has not saved. */
TEST_F(calls, registers_are_saved_in_floating_point_registers)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		check_regs_leaf(_metadata, self->section, i, (i + 5) % 16,
				variant->defer);
}
#endif

TEST_HARNESS_MAIN
