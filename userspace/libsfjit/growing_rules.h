/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The rules of a table that grows. Threads add rules without a lock; a rule
 * stays until the table is wiped.
 */
#ifndef SFJIT_GROWING_RULES_H
#define SFJIT_GROWING_RULES_H

#include <string.h>

#include "growing_table.h"

/* Flags of a key, after those of the row. */
#define SFJIT_KEY_FUNCTION_SHIFT	8
#define SFJIT_KEY_FIRST			(1u << 16)
#define SFJIT_KEY_SIGNAL		(1u << 17)	/* a trampoline: no row */
#define SFJIT_KEY_HOLE			(1u << 18)	/* between functions */
#define SFJIT_KEY_UNCHECKED		(1u << 19)

/*
 * A number stands for the words of a row from its flags on, with the flags of its
 * function and its place. The words stay in registers: a processor waits if it
 * loads bytes that two stores have just written.
 */
struct sfjit_rule_key {
	uint64_t cfa, cfa_from, ra, fp, fp_from;
};

_Static_assert(offsetof(struct sfjit_row, flags) +
	       sizeof(struct sfjit_rule_key) == sizeof(struct sfjit_row),
	       "a key is the end of a row");

/* Where the flags are in the first word. */
#define SFJIT_KEY_FLAGS(flags) \
	((uint64_t)(flags) << (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 32 : 0))

static inline uint64_t sfjit_row_word(const struct sfjit_row *row,
				      unsigned int i)
{
	uint64_t word;

	memcpy(&word, (const char *)&row->flags + i * sizeof(word),
	       sizeof(word));
	return word;
}

static inline struct sfjit_rule_key sfjit_key_of(const struct sfjit_row *row,
						 uint32_t flags)
{
	return (struct sfjit_rule_key){
		sfjit_row_word(row, 0) | SFJIT_KEY_FLAGS(flags),
		sfjit_row_word(row, 1), sfjit_row_word(row, 2),
		sfjit_row_word(row, 3), sfjit_row_word(row, 4),
	};
}

static inline bool sfjit_key_is_first(const struct sfjit_rule_key *key)
{
	return key->cfa & SFJIT_KEY_FLAGS(SFJIT_KEY_FIRST);
}

static inline uint64_t sfjit_turn(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

/* Odd numbers, and then upper bits: all bits of the words count. */
static inline uint32_t sfjit_key_hash(const struct sfjit_rule_key key)
{
	uint64_t hash = (key.cfa ^ sfjit_turn(key.fp, 13)) *
			0x9e3779b97f4a7c15ull +
			(key.cfa_from ^ sfjit_turn(key.ra, 29) ^
			 sfjit_turn(key.fp_from, 43)) * 0xc2b2ae3d27d4eb4full;

	return hash >> 40;
}

static inline bool sfjit_keys_equal(const struct sfjit_rule_key *a,
				    const struct sfjit_rule_key b)
{
	return !((a->cfa ^ b.cfa) | (a->cfa_from ^ b.cfa_from) |
		 (a->ra ^ b.ra) | (a->fp ^ b.fp) | (a->fp_from ^ b.fp_from));
}

/* The number of a key, or 0; *@slot is where it is or would be. */
static inline uint16_t sfjit_find_key(const struct sfjit_growing *table,
				      const struct sfjit_rule_key key,
				      uint32_t *slot)
{
	uint32_t at = sfjit_key_hash(key) & table->slot_mask;
	uint16_t id;

	for (;; at = (at + 1) & table->slot_mask) {
		id = __atomic_load_n(&table->slots[at], __ATOMIC_ACQUIRE);
		if (!id || sfjit_keys_equal(&table->keys[id], key))
			break;
	}
	*slot = at;
	return id;
}

/*
 * Adds the rule of a row that was not found. Returns its number, or -EINVAL,
 * -ENOSPC or -ENOTSUP.
 */
int sfjit_add_rule(struct sfjit_growing *table, const struct sfjit_row *row,
		   uint32_t flags);

/* @flags: those that are added to the row's */
static inline int sfjit_rule_id(struct sfjit_growing *table,
				const struct sfjit_row *row, uint32_t flags)
{
	uint32_t slot;
	uint16_t id = sfjit_find_key(table, sfjit_key_of(row, flags), &slot);

	return id ? id : sfjit_add_rule(table, row, flags);
}

/* Whether a function begins where that rule does. */
static inline bool sfjit_growing_is_first(const struct sfjit_growing *table,
					  uint16_t id)
{
	return sfjit_key_is_first(&table->keys[id]);
}

/* The row and all flags of a number. */
static inline struct sfjit_row sfjit_row_of(const struct sfjit_growing *table,
					    uint16_t id)
{
	struct sfjit_row row = { 0 };

	memcpy(&row.flags, &table->keys[id], sizeof(table->keys[id]));
	return row;
}

/* The number of the same rule at units that are not first. */
static inline int sfjit_continued_id(struct sfjit_growing *table, uint16_t id)
{
	struct sfjit_row row;

	if (!sfjit_growing_is_first(table, id))
		return id;
	row = sfjit_row_of(table, id);
	row.flags &= ~SFJIT_KEY_FIRST;
	return sfjit_rule_id(table, &row, 0);
}

#endif /* SFJIT_GROWING_RULES_H */
