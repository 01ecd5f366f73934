// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Identities, with their permanent names and addresses.
 *
 * Signal handlers look up and add at any instruction, so nothing here waits. An
 * entry is filled first, then published by one compare-and-swap of the first
 * free slot on its search path. There are twice as many slots as numbers, so
 * one is always free.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "assist.h"

/* One more, for sfjit_assist_shared. */
#define NUMBERS		(SFJIT_ASSIST_NAMES + 1)
#define SLOTS		(2 * SFJIT_ASSIST_NAMES)
#define ARENA_SIZE	(NUMBERS * SFJIT_ASSIST_NAME_CODE)

/* Texts are stored in pieces of memory. A text never spans two. */
#define PIECE		(256U << 10)
#define PIECES		256

struct book {
	unsigned char			*arena;
	uint32_t			slots[SLOTS];
	struct sfjit_assist_entry	entries[NUMBERS];
	unsigned char			*pieces[PIECES];
	uint32_t			used;	/* bytes of texts */
	uint32_t			last;	/* highest number allocated */
	uint32_t			added;	/* list of new names */
	uint64_t			nr_names;
};

static struct book *book;
static uint64_t nr_full;

/* An identity that no runtime can use. */
const uint64_t sfjit_assist_shared[2] = {
	(uintptr_t)&book, SFJIT_ASSIST_NAMES
};

/* ---- Memory -------------------------------------------------------------- */

/* perf uses the perf map only for anonymous memory without a name. */
static int map_arena(unsigned char **arena)
{
	int ret = sfjit_fault("arena");

	if (ret)
		return ret;
	*arena = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return *arena == MAP_FAILED ? -1 : 0;
}

/*
 * Set a pointer that is NULL. Fails if another thread or handler set it first.
 */
static bool set_first(void *pointer, void *value)
{
	void *expected = NULL;

	return __atomic_compare_exchange_n((void **)pointer, &expected, value,
					   false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static struct book *make_book(void)
{
	unsigned char *memory, *arena;
	struct book *new;

	if (sfjit_map(sizeof(*new), MAP_NORESERVE, &memory))
		return NULL;
	if (map_arena(&arena)) {
		sfjit_unmap(memory, sizeof(*new));
		return NULL;
	}
	new = (struct book *)memory;
	new->arena = arena;
	if (!set_first(&book, new)) {
		sfjit_unmap(arena, ARENA_SIZE);
		sfjit_unmap(memory, sizeof(*new));
	}
	return __atomic_load_n(&book, __ATOMIC_ACQUIRE);
}

static struct book *the_book(void)
{
	return __atomic_load_n(&book, __ATOMIC_ACQUIRE);
}

static unsigned char *piece_at(struct book *b, uint32_t at)
{
	unsigned char **piece = &b->pieces[at / PIECE], *memory;

	memory = __atomic_load_n(piece, __ATOMIC_ACQUIRE);
	if (memory)
		return memory;
	if (sfjit_map(PIECE, MAP_NORESERVE, &memory))
		return NULL;
	if (!set_first(piece, memory))
		sfjit_unmap(memory, PIECE);
	return __atomic_load_n(piece, __ATOMIC_ACQUIRE);
}

/* Reserve space for a text. It is lost if the entry is not published. */
static bool reserve_text(struct book *b, uint32_t length, uint32_t *at)
{
	uint32_t used = __atomic_load_n(&b->used, __ATOMIC_RELAXED);

	do {
		*at = used;
		if (used / PIECE != (used + length - 1) / PIECE)
			*at = (used / PIECE + 1) * PIECE;
		if (*at + length > PIECE * PIECES)
			return false;
	} while (!__atomic_compare_exchange_n(&b->used, &used, *at + length,
					      false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
}

static bool copy_text(struct book *b, struct sfjit_assist_entry *entry,
		      const char *text, uint32_t length)
{
	unsigned char *piece;

	if (!reserve_text(b, length, &entry->text))
		return false;
	piece = piece_at(b, entry->text);
	if (!piece)
		return false;
	memcpy(piece + entry->text % PIECE, text, length);
	entry->length = length;
	return true;
}

/* ---- Slots --------------------------------------------------------------- */

static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
	return h ^ h >> 32;
}

/* Mix one word after the other: related words must not cancel out. */
static uint32_t hash(const uint64_t id[2])
{
	return mix(mix(id[0]) + id[1]);
}

static struct sfjit_assist_entry *entry_of(struct book *b, uint32_t number)
{
	return &b->entries[number - 1];
}

/* An unpublished entry may still be being filled by another handler. */
static bool has_id(const struct sfjit_assist_entry *entry,
		   const uint64_t id[2])
{
	return __atomic_load_n(&entry->id[0], __ATOMIC_RELAXED) == id[0] &&
	       __atomic_load_n(&entry->id[1], __ATOMIC_RELAXED) == id[1];
}

/* Returns the number, or 0 and the slot to publish it in. */
static uint32_t find_number(struct book *b, const uint64_t id[2],
			    uint32_t **slot)
{
	uint32_t i, number;

	for (i = hash(id); ; i++) {
		*slot = &b->slots[i % SLOTS];
		number = __atomic_load_n(*slot, __ATOMIC_ACQUIRE);
		if (!number || has_id(entry_of(b, number), id))
			return number;
	}
}

uint32_t sfjit_assist_find(const uint64_t id[2])
{
	struct book *b = the_book();
	uint32_t *slot;

	return b ? find_number(b, id, &slot) : 0;
}

/* ---- Entries ------------------------------------------------------------- */

static uint32_t new_number(struct book *b, uint32_t most)
{
	uint32_t last = __atomic_load_n(&b->last, __ATOMIC_RELAXED);

	do {
		if (last >= most)
			return 0;
	} while (!__atomic_compare_exchange_n(&b->last, &last, last + 1, false,
					      __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return last + 1;
}

/* The number is lost if others were allocated meanwhile. */
static void release_number(struct book *b, uint32_t number)
{
	__atomic_compare_exchange_n(&b->last, &number, number - 1, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static uint32_t make_entry(struct book *b, const uint64_t id[2],
			   const char *text, uint32_t length)
{
	struct sfjit_assist_entry *entry;
	uint32_t number = new_number(b, id == sfjit_assist_shared ? NUMBERS :
				     SFJIT_ASSIST_NAMES);

	if (!number)
		return 0;
	entry = entry_of(b, number);
	__atomic_store_n(&entry->id[0], id[0], __ATOMIC_RELAXED);
	__atomic_store_n(&entry->id[1], id[1], __ATOMIC_RELAXED);
	if (copy_text(b, entry, text, length))
		return number;
	release_number(b, number);
	return 0;
}

/* Returns 0, or the number of an equal name that was published first. */
static uint32_t publish(struct book *b, const uint64_t id[2], uint32_t number)
{
	uint32_t *slot, expected, other;

	do {
		other = find_number(b, id, &slot);
		if (other)
			return other;
		expected = 0;
	} while (!__atomic_compare_exchange_n(slot, &expected, number, false,
					      __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return 0;
}

static void add_to_new(struct book *b, uint32_t number)
{
	uint32_t *next = &entry_of(b, number)->next;

	*next = __atomic_load_n(&b->added, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&b->added, next, number, false,
					    __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
}

uint32_t sfjit_assist_add(const uint64_t id[2], const char *text,
			  uint32_t length)
{
	struct book *b = the_book();
	uint32_t number = 0, other;

	if (!b)
		b = make_book();
	if (b)
		number = make_entry(b, id, text, length);
	if (!number) {
		__atomic_fetch_add(&nr_full, 1, __ATOMIC_RELAXED);
		return 0;
	}
	other = publish(b, id, number);
	if (other) {
		release_number(b, number);
		return other;
	}
	if (id != sfjit_assist_shared)
		__atomic_fetch_add(&b->nr_names, 1, __ATOMIC_RELAXED);
	add_to_new(b, number);
	return number;
}

bool sfjit_assist_is_full(void)
{
	struct book *b = the_book();

	if (!b || __atomic_load_n(&b->last, __ATOMIC_RELAXED) <
		  SFJIT_ASSIST_NAMES)
		return false;
	__atomic_fetch_add(&nr_full, 1, __ATOMIC_RELAXED);
	return true;
}

/* ---- Readers ------------------------------------------------------------- */

uint32_t sfjit_assist_last(void)
{
	struct book *b = the_book();

	return b ? __atomic_load_n(&b->last, __ATOMIC_ACQUIRE) : 0;
}

struct sfjit_assist_entry *sfjit_assist_entry(uint32_t number)
{
	struct sfjit_assist_entry *entry = entry_of(the_book(), number);
	uint64_t id[2] = {
		__atomic_load_n(&entry->id[0], __ATOMIC_RELAXED),
		__atomic_load_n(&entry->id[1], __ATOMIC_RELAXED),
	};

	return sfjit_assist_find(id) == number ? entry : NULL;
}

uintptr_t sfjit_assist_code(uint32_t number)
{
	return (uintptr_t)the_book()->arena +
	       (number - 1) * SFJIT_ASSIST_NAME_CODE;
}

const char *sfjit_assist_text(const struct sfjit_assist_entry *entry)
{
	return (char *)piece_at(the_book(), entry->text) + entry->text % PIECE;
}

bool sfjit_assist_has_new(void)
{
	struct book *b = the_book();

	return b && __atomic_load_n(&b->added, __ATOMIC_SEQ_CST);
}

uint32_t sfjit_assist_take_new(void)
{
	struct book *b = the_book();

	return b ? __atomic_exchange_n(&b->added, 0, __ATOMIC_SEQ_CST) : 0;
}

void sfjit_assist_count_names(struct sfjit_assist_stats *stats)
{
	struct book *b = the_book();

	stats->names = b ? __atomic_load_n(&b->nr_names, __ATOMIC_RELAXED) : 0;
	stats->names_full = __atomic_load_n(&nr_full, __ATOMIC_RELAXED);
}
