// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Memory of packed tables that grow.
 *
 * Blocks are in chunks. A zone of the text takes one chunk after the other, and
 * gives all of them back when its functions are forgotten together. A chunk has
 * the number of its zone, so one that a fork cuts off is not lost either.
 */
#include <errno.h>
#include <sys/mman.h>

#include "growing_memory.h"
#include "growing_rules.h"
#include "internal.h"

/* No block is longer: 255 changes of 2 bytes each, and the id before them. */
#define CHUNK		1024u

/* An eighth of the chunks is left for functions that are withdrawn. */
#define SPARE_PART	8

#define BUCKET_SHIFT	SFRAME_PACKED_BUCKET_SHIFT

/* ---- Memory ---------------------------------------------------------- */

static size_t aligned(size_t length)
{
	return (length + 63) & ~(size_t)63;
}

/* Takes @length bytes at *@at. */
static void *take_part(uintptr_t *at, size_t length)
{
	void *part = (void *)*at;

	*at += length;
	return part;
}

/* The same, in cache lines of its own. */
static void *take_lines(uintptr_t *at, size_t length)
{
	return take_part(at, aligned(length));
}

static uint32_t nr_slots(uint32_t rules)
{
	uint32_t nr = 64;

	while (nr < 2 * rules)
		nr *= 2;
	return nr;
}

static uint32_t shift_up(uint64_t length, unsigned int shift)
{
	return (length + (1ull << shift) - 1) >> shift;
}

static void set_sizes(struct sfjit_growing *table, uint64_t text,
		      size_t text_length, size_t rules, size_t blocks)
{
	table->text = text;
	table->text_length = text_length;
	table->units = shift_up(text_length, table->unit_shift);
	table->nr_buckets = shift_up(table->units, BUCKET_SHIFT);
	table->nr_zones = (text_length - 1) / SFJIT_ZONE_SIZE + 1;
	table->nr_rules = rules;
	table->slot_mask = nr_slots(rules) - 1;
	table->nr_chunks = (blocks - 1) / CHUNK + 1;
}

static void fill_header(struct sfjit_growing *table,
			struct sframe_packed_header header)
{
	header.nr_rules = table->nr_rules;
	header.text_start = table->text;
	header.text_length = table->text_length;
	header.blocks_len = table->nr_chunks * CHUNK;
	memcpy(table->start, &header, sizeof(header));
}

/*
 * Places the parts of the table in memory from @start on; returns the end. The
 * kernel does not look at what follows the table.
 */
static uintptr_t set_parts(struct sfjit_growing *table, uintptr_t start)
{
	uintptr_t at = start + sizeof(struct sframe_packed_header);

	table->rules = take_part(&at, table->nr_rules * sizeof(*table->rules));
	table->index = take_part(&at, table->nr_buckets * sizeof(uint32_t));
	table->blocks = take_part(&at, (size_t)table->nr_chunks * CHUNK);
	table->length = at + SFRAME_PACKED_PAD - start;

	at = start + aligned(table->length);
	table->counters = take_lines(&at, sizeof(*table->counters));
	table->zones = take_lines(&at, table->nr_zones * sizeof(uint32_t));
	table->owners = take_lines(&at, table->nr_chunks * sizeof(uint32_t));
	table->slots = take_lines(&at, (table->slot_mask + 1) *
				       sizeof(uint32_t));
	table->keys = take_lines(&at, table->nr_rules * sizeof(*table->keys));
	return at;
}

static int map_parts(struct sfjit_growing *table)
{
	int ret;

	table->mapped = set_parts(table, 0);
	/* Untouched pages take no memory. */
	ret = sfjit_map(table->mapped, MAP_NORESERVE, &table->start);
	if (ret)
		return ret;
	set_parts(table, (uintptr_t)table->start);
	/*
	 * Otherwise the first function would allocate a whole huge page. A
	 * kernel without huge pages returns EINVAL.
	 */
	madvise(table->start, table->mapped, MADV_NOHUGEPAGE);
	return 0;
}

static struct sframe_packed_header empty_header(void)
{
	struct sframe_packed_header header = { 0 };

	/* A machine without a number has no header, and no functions. */
	sfg_init_packed(SFG_HOST_ABI, &header);
	return header;
}

unsigned int sfjit_growing_unit_shift(void)
{
	return empty_header().unit_shift;
}

int sfjit_growing_map(struct sfjit_growing *table, uint64_t text,
		      size_t text_length, size_t rules, size_t blocks)
{
	struct sframe_packed_header header = empty_header();
	int ret;

	if (text_length > SFJIT_MAX_TEXT || rules > SFJIT_MAX_RULES ||
	    blocks > SFJIT_MAX_BLOCKS)
		return -E2BIG;
	memset(table, 0, sizeof(*table));
	table->unit_shift = header.unit_shift;
	set_sizes(table, text, text_length, rules, blocks);
	ret = map_parts(table);
	if (ret)
		return ret;
	fill_header(table, header);
	table->counters->used_rules = SFJIT_HOLE_ID + 1;
	return 0;
}

int sfjit_growing_unmap(const struct sfjit_growing *table)
{
	return sfjit_unmap(table->start, table->mapped);
}

/* ---- Unused bytes for blocks ----------------------------------------- */

static uint32_t zone_of(const struct sfjit_growing *table, uint32_t bucket)
{
	return bucket >> (__builtin_ctz(SFJIT_ZONE_SIZE) - BUCKET_SHIFT -
			  table->unit_shift);
}

static bool try_chunk(struct sfjit_growing *table, uint32_t chunk,
		      uint32_t zone)
{
	uint32_t free = 0;

	return !__atomic_load_n(&table->owners[chunk], __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(&table->owners[chunk], &free,
					   zone + 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static uint32_t max_chunks(const struct sfjit_growing *table, bool spare)
{
	return spare ? table->nr_chunks :
		       table->nr_chunks - table->nr_chunks / SPARE_PART;
}

static int64_t take_chunk(struct sfjit_growing *table, uint32_t zone,
			  bool spare)
{
	uint32_t first = __atomic_load_n(&table->counters->next_chunk, __ATOMIC_RELAXED);
	uint32_t nr = max_chunks(table, spare), chunk, i;

	for (i = 0; i < nr; i++) {
		chunk = (first + i) % nr;
		if (!try_chunk(table, chunk, zone))
			continue;
		__atomic_store_n(&table->counters->next_chunk, chunk + 1,
				 __ATOMIC_RELAXED);
		return chunk;
	}
	return -ENOSPC;
}

static void free_chunk(struct sfjit_growing *table, uint32_t chunk)
{
	__atomic_store_n(&table->owners[chunk], 0, __ATOMIC_RELEASE);
}

static bool move_zone(uint32_t *zone, uint32_t *from, uint32_t to)
{
	return __atomic_compare_exchange_n(zone, from, to, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int64_t sfjit_growing_take(struct sfjit_growing *table, uint32_t bucket,
			   uint32_t size, bool spare)
{
	uint32_t nr = zone_of(table, bucket), *zone = &table->zones[nr];
	uint32_t at = __atomic_load_n(zone, __ATOMIC_RELAXED);
	int64_t chunk;

	for (;;) {
		/* The first unused byte of no chunk is that of the next. */
		if (size <= -at % CHUNK) {
			if (move_zone(zone, &at, at + size))
				return at;
			continue;
		}
		chunk = take_chunk(table, nr, spare);
		if (chunk < 0)
			return chunk;
		if (move_zone(zone, &at, chunk * CHUNK + size))
			return chunk * CHUNK;
		free_chunk(table, chunk);
	}
}

void sfjit_growing_free(struct sfjit_growing *table, uint32_t first,
			uint32_t end)
{
	uint32_t i, owner;

	for (i = first; i < end; i++)
		__atomic_store_n(&table->zones[i], 0, __ATOMIC_RELAXED);
	for (i = 0; i < table->nr_chunks; i++) {
		owner = __atomic_load_n(&table->owners[i], __ATOMIC_RELAXED);
		if (owner > first && owner <= end)
			free_chunk(table, i);
	}
}

size_t sfjit_growing_blocks(const struct sfjit_growing *table)
{
	return (size_t)table->nr_chunks * CHUNK;
}

size_t sfjit_growing_room(const struct sfjit_growing *table)
{
	uint32_t i, nr = max_chunks(table, false), free = 0;

	for (i = 0; i < nr; i++)
		free += !__atomic_load_n(&table->owners[i], __ATOMIC_RELAXED);
	return (size_t)free * CHUNK;
}
