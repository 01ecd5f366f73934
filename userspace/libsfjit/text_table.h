/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Packed tables for code without rows: it keeps frame pointers, or stacks end
 * there. The rule repeats every unit, so such a table has one bucket and is for
 * any code of less than 4 GiB, whose start is the bias of the window.
 */
#ifndef SFJIT_TEXT_TABLE_H
#define SFJIT_TEXT_TABLE_H

#include <stdint.h>

#include <sframegen.h>
#include <sfjit/text.h>
#include <slot.h>

#define TEXT_TABLE_MAX	(UINT32_MAX >> SLOT_UNIT_SHIFT << SLOT_UNIT_SHIFT)

/* A multiple of 16, and in one page. */
struct text_table {
	struct sframe_packed_header header;
	struct sframe_packed_rule rules[2];
	uint32_t index[1];
	uint8_t pad[SFRAME_PACKED_PAD];
} __attribute__((aligned(128)));

#define TEXT_TABLE(rule) {						\
	.header = {							\
		.magic = SFRAME_PACKED_MAGIC,				\
		.version = SFRAME_PACKED_VERSION,			\
		.unit_shift = SLOT_UNIT_SHIFT,				\
		.repeat = 1 << SLOT_UNIT_SHIFT,			\
		.nr_rules = 2,						\
		.text_length = TEXT_TABLE_MAX,				\
	},								\
	.rules = { { .kind = SFRAME_PACKED_UNKNOWN }, { .kind = rule } }, \
	.index = { 1 },							\
}

/* Not const, see text_table_get(). */
static struct text_table text_tables[2] = {
	TEXT_TABLE(SFRAME_PACKED_FP), TEXT_TABLE(SFRAME_PACKED_OUTERMOST),
};

/*
 * @what: SFJIT_TEXT_FP or SFJIT_TEXT_END
 *
 * The kernel does not wait for a page of a file, and fork() does not copy its
 * entry in the page table. The store makes the page one of this process.
 */
static inline struct text_table *text_table_get(unsigned int what)
{
	struct text_table *table = &text_tables[what == SFJIT_TEXT_END];

	__atomic_store_n(&table->header.abi_arch, SFG_HOST_ABI,
			 __ATOMIC_RELAXED);
	return table;
}

#endif /* SFJIT_TEXT_TABLE_H */
