// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: .eh_frame is found among other bytes by its records alone: its
 * start and its end, and nothing where a record does not fit.
 */
#include <stdlib.h>
#include <string.h>

#include "eh_frame.h"
#include "tap.h"

#define BEFORE	24
#define MOST	512

struct text {
	uint8_t bytes[MOST];
	size_t length;
	bool swapped;
};

static void add(struct text *t, uint32_t value)
{
	if (t->swapped)
		value = __builtin_bswap32(value);
	memcpy(t->bytes + t->length, &value, sizeof(value));
	t->length += sizeof(value);
}

static void add_bytes(struct text *t, const void *bytes, size_t length)
{
	memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
}

static size_t add_cie(struct text *t)
{
	size_t at = t->length;

	add(t, 20);
	add(t, 0);
	add_bytes(t, "\1zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1\0\0", 16);
	return at;
}

static void add_fde(struct text *t, size_t cie)
{
	add(t, 16);
	add(t, t->length - cie);
	add_bytes(t, "\x10\x20\x30\x40\x50\0\0\0\0\x41\x0e\x10", 12);
}

/* Two CIEs; the last FDE has the first one again. */
static void make(struct text *t, bool swapped)
{
	size_t first;

	*t = (struct text){ .swapped = swapped };
	memset(t->bytes, 0x55, BEFORE);
	t->length = BEFORE;
	first = add_cie(t);
	add_fde(t, first);
	add_fde(t, first);
	add_fde(t, add_cie(t));
	add_fde(t, first);
}

/* In memory of that size. */
static bool find(const struct text *t, size_t *at, size_t *size)
{
	uint8_t *copy = malloc(t->length + !t->length);
	bool found;

	MUST(copy);
	memcpy(copy, t->bytes, t->length);
	found = eh_frame_find(copy, t->length, t->swapped, at, size);
	free(copy);
	return found;
}

static void is_at(const char *name, const struct text *t, size_t from,
		  size_t to)
{
	size_t at = 0, size = 0;
	bool found = find(t, &at, &size);

	result(found && at == from && at + size == to, name,
	       "found %d: %zu to %zu, wanted %zu to %zu", found, at, at + size,
	       from, to);
}

static void is_nowhere(const char *name, const struct text *t)
{
	size_t at = 0, size = 0;
	bool found = find(t, &at, &size);

	result(!found, name, "found at %zu, %zu bytes", at, size);
}

static void with_bytes_around(bool swapped)
{
	struct text t;
	size_t end;

	make(&t, swapped);
	is_at("up to the end", &t, BEFORE, t.length);
	add(&t, 0);
	end = t.length;
	is_at("up to its terminator at the end", &t, BEFORE, end);
	add_bytes(&t, "what follows is ignored", 23);
	is_at("up to its terminator", &t, BEFORE, end);
}

static void without_terminator(void)
{
	struct text t;

	make(&t, false);
	add(&t, 0x55555555);
	is_nowhere("other bytes in place of the terminator", &t);
	t.length = BEFORE;
	add_cie(&t);
	add(&t, 0);
	is_nowhere("no FDE", &t);
	t.length = BEFORE;
	add_fde(&t, BEFORE);
	add(&t, 0);
	is_nowhere("no CIE", &t);
	make(&t, false);
	add_fde(&t, BEFORE + 4);
	add(&t, 0);
	is_nowhere("an FDE whose CIE is none", &t);
}

/* What looks like its start is not: the one after it is found. */
static void after_a_false_one(void)
{
	struct text t = { .length = 0 };
	size_t cie;

	add_cie(&t);
	add_bytes(&t, "bad!", 4);
	cie = add_cie(&t);
	add_fde(&t, cie);
	add(&t, 0);
	is_at("after a CIE with other bytes", &t, cie, t.length);
}

/* Each length, and each byte with other values: only reads inside. */
static void damaged(void)
{
	static const uint8_t by[] = { 0x01, 0x0f, 0x80, 0xff };
	struct text whole, t;
	size_t i, j, at, size, found = 0, outside = 0;

	make(&whole, false);
	add(&whole, 0);
	for (i = 0; i < whole.length; i++)
		for (j = 0; j < sizeof(by); j++) {
			t = whole;
			t.bytes[i] ^= by[j];
			if (!find(&t, &at, &size))
				continue;
			found++;
			outside += at > t.length || size > t.length - at;
		}
	for (t = whole; t.length; ) {
		t.length--;
		if (find(&t, &at, &size))
			outside += at + size > t.length;
	}
	result(found && !outside, "damaged", "%zu found, %zu outside", found,
	       outside);
}

int main(void)
{
	with_bytes_around(false);
	with_bytes_around(true);
	without_terminator();
	after_a_false_one();
	damaged();
	return finish();
}
