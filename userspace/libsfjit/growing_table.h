/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A packed table that changes while the kernel reads it: where its parts are,
 * and how to read it.
 *
 * A function is a run of units: the rule at its first unit has a number that
 * only first units have, the others have numbers that no first unit has. So
 * the table itself tells where functions begin and end, and one
 * compare-and-swap of an index entry changes both.
 */
#ifndef SFJIT_GROWING_TABLE_H
#define SFJIT_GROWING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sframegen.h>

/* Units of a bucket, and bytes of text that have blocks of their own. */
#define SFJIT_BUCKET_UNITS	256u
#define SFJIT_ZONE_SIZE		4096u

/* Limits of the format; there are numbers left for the end of the last bucket. */
#define SFJIT_MAX_TEXT		(UINT32_MAX - SFJIT_ZONE_SIZE + 1)
#define SFJIT_MAX_RULES		UINT16_MAX
#define SFJIT_MAX_BLOCKS	(1u << 30)

/* Numbers of rules: nothing is known, and the same inside of a function. */
#define SFJIT_NO_RULE_ID	0
#define SFJIT_HOLE_ID		1

/* Threads change these together, so they have a cache line of their own. */
struct sfjit_growing_counters {
	uint32_t	used_rules;
	uint32_t	next_chunk;	/* where to look for one that is free */
};

/*
 * @slots: numbers of rules by the hash of their key; 0 is none
 * @zones: the next byte that is unused in the chunk of each zone
 * @owners: the zone of each chunk, plus 1; 0: free
 */
struct sfjit_growing {
	unsigned char	*start;
	size_t		length;		/* of the table */
	size_t		mapped;
	uint64_t	text;
	uint32_t	text_length;
	unsigned int	unit_shift;
	uint32_t	units;
	struct sframe_packed_rule *rules;
	uint32_t	*index;
	unsigned char	*blocks;
	struct sfjit_growing_counters *counters;
	struct sfjit_rule_key *keys;
	uint32_t	*slots;
	uint32_t	*zones;
	uint32_t	*owners;
	uint32_t	nr_rules;
	uint32_t	slot_mask;
	uint32_t	nr_buckets;
	uint32_t	nr_zones;
	uint32_t	nr_chunks;
};

/* Offsets from the text to units: the first one that begins there or later. */
static inline uint32_t sfjit_growing_unit_up(const struct sfjit_growing *table,
					     uint64_t offset)
{
	return (offset + (1u << table->unit_shift) - 1) >> table->unit_shift;
}

/* An entry, decoded. Change i begins span i + 1; span 0 is before all. */
struct sfjit_block {
	const uint8_t	*changes;
	const uint8_t	*ids;
	uint32_t	nr;		/* of changes */
	uint16_t	only;		/* the rule if there is no change */
	bool		wide;
};

static inline uint32_t sfjit_load_entry(const struct sfjit_growing *table,
					uint32_t bucket)
{
	return __atomic_load_n(&table->index[bucket], __ATOMIC_ACQUIRE);
}

static inline struct sfjit_block
sfjit_block_of(const struct sfjit_growing *table, uint32_t entry)
{
	struct sfjit_block block = { .only = SFRAME_PACKED_RULE(entry) };
	const uint8_t *at;

	if (!(entry & SFRAME_PACKED_BLOCK))
		return block;
	at = table->blocks + SFRAME_PACKED_OFFSET(entry);
	block.nr = *at++;
	block.changes = at;
	block.ids = at + block.nr;
	block.wide = entry & SFRAME_PACKED_WIDE;
	return block;
}

static inline uint16_t sfjit_id_at(const struct sfjit_block *block,
				   uint32_t span)
{
	uint16_t id;

	if (!block->nr)
		return block->only;
	if (!block->wide)
		return block->ids[span];
	memcpy(&id, block->ids + 2 * span, sizeof(id));
	return id;
}

/* How many changes are before a unit. */
static inline uint32_t sfjit_changes_before(const struct sfjit_block *block,
					    uint32_t unit)
{
	uint32_t i = 0;

	while (i < block->nr && block->changes[i] < unit)
		i++;
	return i;
}

/* Units [lo, hi) of one bucket have the same rule. */
struct sfjit_span {
	uint32_t lo, hi;
	uint16_t id;
};

static inline struct sfjit_span
sfjit_growing_span(const struct sfjit_growing *table, uint32_t unit)
{
	uint32_t at = unit % SFJIT_BUCKET_UNITS, base = unit - at;
	uint32_t entry = sfjit_load_entry(table, unit / SFJIT_BUCKET_UNITS);
	struct sfjit_block block = sfjit_block_of(table, entry);
	uint32_t span = sfjit_changes_before(&block, at + 1);

	return (struct sfjit_span){
		.lo = base + (span ? block.changes[span - 1] : 0),
		.hi = base + (span < block.nr ? block.changes[span] :
			      SFJIT_BUCKET_UNITS),
		.id = sfjit_id_at(&block, span),
	};
}

#endif /* SFJIT_GROWING_TABLE_H */
