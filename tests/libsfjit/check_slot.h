/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The callchain at each instruction of a slot, for tests of the library in a
 * guest.
 */
#ifndef CHECK_SLOT_H
#define CHECK_SLOT_H

#include <stdatomic.h>

#include "kselftest_harness.h"

#include "slots.h"
#include <sfjit.h>

/* Rows of sft_slot_rbp as the library takes them. */
static const struct sfjit_row push_rows[] __maybe_unused = {
	{ 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 5, 0, SFJIT_REG(SFJIT_X86_64_SP, 16), SFJIT_NO_RULE,
	  SFJIT_SAVED(-16) },
	{ 11, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE },
};

/* Number of samples, for tests that change windows meanwhile. */
static atomic_uint check_samples;

/* The code must match the table of its instructions. */
static void check_code(struct __test_metadata *_metadata, const __u8 *entry,
		       const struct sft_slot *slot)
{
	unsigned int i, end = slot->insns[sft_nr_insns(slot) - 1];

	for (i = 0; i <= end; i++)
		if (!slot->data || i < slot->data || i >= slot->data + 4)
			ASSERT_EQ(slot->code[i], entry[i]);
}

static void check_slot(struct __test_metadata *_metadata, const __u8 *entry,
		       const struct sft_slot *slot, bool defer)
{
	const struct sft_call call = { entry, sft_leaf };
	struct sft_chain chain;
	unsigned int i;

	check_code(_metadata, entry, slot);
	for (i = 0; i < sft_nr_insns(slot); i++) {
		const __u8 *ip = entry + slot->insns[i];

		TH_LOG("instruction at %u", slot->insns[i]);
		ASSERT_EQ(0, sft_chain_at(ip, defer, &call, &chain));
		check_samples++;
		EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	}
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, defer, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
		     (uintptr_t)entry + slot->ret, SFT_CALLERS);
}

#endif /* CHECK_SLOT_H */
