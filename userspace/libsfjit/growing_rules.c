// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Add rules to a table that grows.
 *
 * A thread takes unused numbers, writes the rule and its key, and then enters
 * the number into the hash table. If another thread enters the same key first,
 * the numbers stay unused. So do those of a thread that a fork cut off.
 */
#include <errno.h>

#include "growing_rules.h"
#include "internal.h"

/* Members without a meaning are 0, so that a rule has one key. */
static struct sfjit_row normal_row(const struct sfjit_row *row, uint32_t flags)
{
	struct sfjit_row normal = *row;

	normal.start = 0;
	normal.flags |= flags;
	if (row->flags & SFJIT_ROW_OUTERMOST)
		normal.cfa = normal.ra = normal.fp = sfjit_rule_none();
	if (!row->ra.base)
		normal.ra = sfjit_rule_none();
	if (!row->fp.base)
		normal.fp = sfjit_rule_none();
	return normal;
}

static bool is_possible(const struct sfjit_row *row, uint32_t flags)
{
	if (flags & SFJIT_KEY_UNCHECKED)
		return true;
	if (row->flags & ~SFJIT_ROW_GIVEN)
		return false;
	return sfg_cfas_are_possible(SFG_HOST_ABI, row, 1);
}

/* Returns how many rules it needs, or an error. */
static int encode_row(const struct sfjit_row *normal,
		      struct sframe_packed_rule rules[2])
{
	struct sfjit_row row = *normal;

	if (normal->flags & SFJIT_KEY_SIGNAL)
		return sfg_pack_row(SFG_HOST_ABI, NULL, 0, rules);
	row.flags &= UINT8_MAX;
	if (!is_possible(&row, normal->flags))
		return -EINVAL;
	return sfg_pack_row(SFG_HOST_ABI, &row,
			    normal->flags >> SFJIT_KEY_FUNCTION_SHIFT, rules);
}

static int take_ids(struct sfjit_growing *table, int nr)
{
	uint32_t id = __atomic_load_n(&table->counters->used_rules, __ATOMIC_RELAXED);

	do {
		if (id + nr > table->nr_rules)
			return -ENOSPC;
	} while (!__atomic_compare_exchange_n(&table->counters->used_rules, &id, id + nr,
					      true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return id;
}

static int write_rule(struct sfjit_growing *table, const struct sfjit_row *row)
{
	struct sframe_packed_rule rules[2];
	int nr = encode_row(row, rules), id;

	if (nr < 0)
		return nr;
	id = take_ids(table, nr);
	if (id < 0)
		return id;
	memcpy(&table->rules[id], rules, nr * sizeof(*rules));
	table->keys[id] = sfjit_key_of(row, 0);
	return id;
}

int sfjit_add_rule(struct sfjit_growing *table, const struct sfjit_row *given,
		   uint32_t flags)
{
	struct sfjit_row row = normal_row(given, flags);
	struct sfjit_rule_key key = sfjit_key_of(&row, 0);
	uint32_t slot, none;
	uint16_t found;
	int id;

	if (row.flags & SFJIT_KEY_HOLE)
		return SFJIT_HOLE_ID;
	found = sfjit_find_key(table, key, &slot);
	if (found)
		return found;
	id = write_rule(table, &row);
	if (id < 0)
		return id;
	do {
		none = 0;
		/* Release the rule; acquire that of a faster thread. */
		if (__atomic_compare_exchange_n(&table->slots[slot], &none, id,
						false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return id;
		found = sfjit_find_key(table, key, &slot);
	} while (!found);
	return found;
}
