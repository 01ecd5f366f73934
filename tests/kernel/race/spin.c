// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions with a known stack, made at run time.
 */
#include <string.h>

#include "sframe_packed_format.h"
#include "spin.h"

static void emit(struct spin *spin, const void *code, unsigned int size)
{
	memcpy(spin->code + spin->size, code, size);
	spin->size += size;
}

static void emit_imm32(struct spin *spin, __u8 opcode, __u32 value)
{
	emit(spin, &opcode, 1);
	emit(spin, &value, sizeof(value));
}

/* From here on the return address ends at sp + @cfa. */
static void row(struct spin *spin, int cfa)
{
	spin->rows[spin->nr_rows++] = (struct sft_row)SFT_SP(spin->size, cfa);
}

static void row_fp(struct spin *spin, int cfa)
{
	spin->rows[spin->nr_rows++] =
		(struct sft_row)SFT_SP_FP(spin->size, cfa, -cfa);
}

void spin_make(struct spin *spin, unsigned int words, __u32 count, bool calls)
{
	const __u8 add_sp[] = { 0x48, 0x83, 0xc4, 8 * words };
	unsigned int i;

	memset(spin, 0, sizeof(*spin));
	memset(spin->code, 0xcc, sizeof(spin->code));
	row(spin, 8);
	emit(spin, "\xf3\x0f\x1e\xfa", 4);		/* endbr64 */
	for (i = 1; i <= words; i++) {
		emit_imm32(spin, 0x68, SPIN_FAKE);	/* push */
		row(spin, 8 + 8 * i);
	}
	emit(spin, "\x55", 1);				/* push %rbp */
	row_fp(spin, 16 + 8 * words);
	emit_imm32(spin, 0xbd, count);			/* mov count, %ebp */
	emit(spin, "\xff\xcd\x75\xfc", 4);		/* dec; jnz to it */
	if (calls) {
		emit(spin, "\x41\xff\xd1", 3);		/* call *%r9 */
		spin->ret = spin->size;
	}
	emit(spin, "\x5d", 1);				/* pop %rbp */
	row(spin, 8 + 8 * words);
	emit(spin, add_sp, sizeof(add_sp));
	row(spin, 8);
	emit(spin, "\xc3", 1);				/* ret */
}

static size_t build(void *sec, const void *text, const struct spin *spin,
		    const struct sft_row *rows)
{
	const struct sft_fde fde = {
		.start = text, .size = spin->size, .rows = rows,
		.nr_rows = spin->nr_rows,
	};

	return sft_build(sec, &fde, 1);
}

size_t spin_section(void *sec, const void *text, const struct spin *spin)
{
	return build(sec, text, spin, spin->rows);
}

size_t spin_poison(void *sec, const void *text, const struct spin *spin)
{
	struct sft_row rows[SPIN_ROWS];
	unsigned int i;

	memcpy(rows, spin->rows, sizeof(rows));
	for (i = 0; i < spin->nr_rows; i++)
		rows[i].words[0] = 16;
	return build(sec, text, spin, rows);
}

/* A rule for each row, and a block for the one bucket. */
struct table {
	struct sframe_packed_header	header;
	struct sframe_packed_rule	rules[1 + SPIN_ROWS];
	__u32				entry;
	__u8				block[2 * SPIN_ROWS];
	__u8				pad[SFRAME_PACKED_PAD];
};

_Static_assert(sizeof(struct table) <= SPIN_TABLE, "a table is too long");

static struct sframe_packed_rule rule_of(const struct sft_row *row)
{
	struct sframe_packed_rule rule = {
		.kind = SFRAME_PACKED_PLAIN,
		.cfa_off = row->words[0], .ra_off = SFT_RA_OFF,
	};

	if (row->nr_words > 1) {
		rule.kind |= SFRAME_PACKED_FP_SAVED;
		rule.fp_off = row->words[1];
	}
	return rule;
}

static size_t build_table(void *mem, const void *text, const struct spin *spin,
			  bool poison)
{
	struct table *table = mem;
	unsigned int i;

	memset(table, 0, sizeof(*table));
	table->header = (struct sframe_packed_header){
		.magic = SFRAME_PACKED_MAGIC,
		.version = SFRAME_PACKED_VERSION,
		.abi_arch = SFT_ABI,
		.nr_rules = 1 + SPIN_ROWS,
		.text_start = (uintptr_t)text,
		.text_length = spin->size,
		.blocks_len = sizeof(table->block),
	};
	table->entry = SFRAME_PACKED_BLOCK;
	table->block[0] = spin->nr_rows - 1;
	for (i = 0; i < spin->nr_rows; i++) {
		table->rules[1 + i] = rule_of(&spin->rows[i]);
		if (poison)
			table->rules[1 + i].cfa_off = 16;
		if (i)
			table->block[i] = spin->rows[i].start;
		table->block[spin->nr_rows + i] = 1 + i;
	}
	return offsetof(struct table, pad) + SFRAME_PACKED_PAD;
}

size_t spin_table(void *table, const void *text, const struct spin *spin)
{
	return build_table(table, text, spin, false);
}

size_t spin_table_poison(void *table, const void *text,
			 const struct spin *spin)
{
	return build_table(table, text, spin, true);
}
