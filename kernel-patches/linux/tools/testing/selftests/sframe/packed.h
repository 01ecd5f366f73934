/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A packed table for the trampolines of pool.h. Include it after pool.h.
 */
#ifndef SFRAME_PACKED_H
#define SFRAME_PACKED_H

#include "sframe_packed_format.h"

#define NR_SLOTS	SFT_POOL_SLOTS
#define TEXT_LENGTH	(NR_SLOTS * SFT_SLOT)

enum { UNIT = 1 << SFT_UNIT_SHIFT };
#define BUCKET		(256 * UNIT)

/* The rules of a slot, one for each row, and those of the tests. */
#define RULE_UNKNOWN	0
#define RULE_SLOT	1
#define RULE_OTHER	(RULE_SLOT + 3)
#define NR_RULES	(RULE_OTHER + 2)

/* The index takes 16 bytes, so that the blocks may begin at a page. */
#define NR_BUCKETS	4
#define NR_CHANGES	(3 * NR_SLOTS - 1)

/**
 * struct table - a packed table that uses one bucket
 * @header:	what the kernel reads at registration
 * @rules:	UNKNOWN, those of a slot, two more
 * @index:	of the four buckets that text_length covers
 * @blocks:	the block of the first bucket
 * @pad:	the padding that the kernel requires
 */
struct table {
	struct sframe_packed_header	header;
	struct sframe_packed_rule	rules[NR_RULES];
	__u32				index[NR_BUCKETS];
	__u8				blocks[1 + NR_CHANGES + NR_CHANGES + 1];
	__u8				pad[SFRAME_PACKED_PAD];
};

/* Without the compiler's tail padding. */
#define TABLE_LEN	(offsetof(struct table, pad) + SFRAME_PACKED_PAD)

/* The rule that equals a row of the DEFAULT type. */
static inline struct sframe_packed_rule rule_of(const struct sft_row *row)
{
	const unsigned int fp_word = SFT_RA_OFF ? 1 : 2;
	const __s32 ra = SFT_RA_OFF ? SFT_RA_OFF : row->words[1];
	struct sframe_packed_rule rule = {
		.kind = SFRAME_PACKED_PLAIN,
		.cfa_off = row->words[0] * SFT_CFA_SCALE + SFT_SAVE_AREA,
		.ra_off = ra,
	};

	if (!(row->info & 1))
		rule.kind |= SFRAME_PACKED_FROM_FP;
	if (row->nr_words > fp_word) {
		rule.kind |= SFRAME_PACKED_FP_SAVED;
		rule.fp_off = row->words[fp_word];
	}
	if (ra)
		return rule;
	/* The return address is in the link register. */
	rule.kind = SFRAME_PACKED_RULES;
	rule.cfa = SFRAME_PACKED_REG | SFT_REGNUM_SP;
	return rule;
}

/* The block of @nr slots: a rule of a slot begins where its row does. */
static inline void put_block(__u8 *block, unsigned int nr)
{
	unsigned int rows = sft_slot_arg.nr_rows, i;

	block[0] = rows * nr - 1;
	for (i = 0; i < rows * nr; i++) {
		if (i)
			block[i] = (i / rows * SFT_SLOT +
				    sft_slot_arg.rows[i % rows].start) / UNIT;
		block[rows * nr + i] = RULE_SLOT + i % rows;
	}
}

/* A table for the slots at @text. */
static inline void build(struct table *table, const __u8 *text)
{
	unsigned int i;

	memset(table, 0, sizeof(*table));
	table->header = (struct sframe_packed_header) {
		.magic = SFRAME_PACKED_MAGIC,
		.version = SFRAME_PACKED_VERSION,
		.abi_arch = SFT_ABI,
		.unit_shift = SFT_UNIT_SHIFT,
		.nr_rules = NR_RULES,
		.text_start = (uintptr_t)text,
		.text_length = NR_BUCKETS * BUCKET,
		.blocks_len = sizeof(table->blocks),
	};
	for (i = 0; i < sft_slot_arg.nr_rows; i++)
		table->rules[RULE_SLOT + i] = rule_of(&sft_slot_arg.rows[i]);
	table->rules[RULE_OTHER].kind = SFRAME_PACKED_FP;
	put_block(table->blocks, NR_SLOTS);
	table->index[0] = SFRAME_PACKED_BLOCK;
}

#endif /* SFRAME_PACKED_H */
