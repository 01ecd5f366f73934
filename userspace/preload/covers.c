// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A list by address, of which the kernel may have dropped any window meanwhile,
 * with its text. Keys are addresses with a bit that no address has: others, who
 * use addresses, may have registered a window at the same place since.
 */
#include <sfjit.h>
#include <stdlib.h>
#include <string.h>

#include <sframegen.h>

#include "clip.h"
#include "code.h"
#include "covers.h"
#include "store.h"
#include "sys.h"

#define KEY_BIT		((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))
#define FRINGE		(64UL << 10)
#define FIRST_ROOM	64

/*
 * Without an owner it is text that nothing describes: what is there because of
 * a neighbour goes with it, unless it stays.
 */
struct cover {
	uintptr_t start, end;
	struct cover_owner *owner;
	void *section;		/* its own: of jumps, or part of the owner's */
	size_t length;
	bool stays;
};

static struct cover *covers;
static size_t nr_covers, room;

/* A section without functions. */
static void *hole;
static size_t hole_length;

static bool make_room(void)
{
	size_t more = room ? 2 * room : FIRST_ROOM;
	struct cover *bigger, *old = covers;

	if (nr_covers < room)
		return true;
	bigger = store_get(more * sizeof(*bigger));
	if (!bigger)
		return false;
	if (old)
		memcpy(bigger, old, nr_covers * sizeof(*bigger));
	covers = bigger;
	store_put(old, room * sizeof(*old));
	room = more;
	return true;
}

static bool make_hole(void)
{
	struct sfjit_function none = { 0 };
	size_t size = SFG_SECTION_MAX(0, 0);

	if (hole)
		return true;
	hole = store_get(size);
	return hole && !sfg_write_section(SFG_HOST_ABI, &none, 0, 0, hole, size,
					  &hole_length, NULL);
}

/* The first that ends behind 'address'. */
static size_t find(uintptr_t address)
{
	size_t lo = 0, hi = nr_covers, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (covers[mid].end <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const void *section_of(const struct cover *c, size_t *length)
{
	if (c->section) {
		*length = c->length;
		return c->section;
	}
	*length = c->owner ? c->owner->length : hole_length;
	return c->owner ? c->owner->section : hole;
}

static int do_register(const struct cover *c, bool again)
{
	size_t length;
	const void *section = section_of(c, &length);
	uintptr_t key = c->start | KEY_BIT;

	if (again)
		return sfjit_replace(key, section, length,
				     (void *)c->start, c->end - c->start);
	return sfjit_register(key, section, length, (void *)c->start,
			      c->end - c->start);
}

static void forget(size_t i)
{
	struct cover *c = &covers[i];

	if (c->owner)
		c->owner->windows--;
	store_put(c->section, c->length);
	nr_covers--;
	memmove(c, c + 1, (nr_covers - i) * sizeof(*c));
}

static void unregister(size_t i)
{
	sfjit_unregister(covers[i].start | KEY_BIT);
	forget(i);
}

static int insert(const struct cover *new)
{
	size_t i = find(new->start);
	int ret;

	if (!make_room())
		return -ENOMEM;
	ret = do_register(new, false);
	if (ret)
		return ret;
	memmove(&covers[i + 1], &covers[i], (nr_covers - i) * sizeof(*covers));
	covers[i] = *new;
	nr_covers++;
	if (new->owner)
		new->owner->windows++;
	return 0;
}

static void displace(uintptr_t start, uintptr_t end)
{
	size_t i = find(start);

	while (i < nr_covers && covers[i].start < end)
		unregister(i);
}

/* The kernel still has it; if not, it is forgotten. */
static bool is_there(size_t i)
{
	if (do_register(&covers[i], true) != -ENOENT)
		return true;
	forget(i);
	return false;
}

static void put_hole(uintptr_t start, uintptr_t end, bool stays)
{
	const struct cover c = { .start = start, .end = end, .stays = stays };

	if (start < end && make_hole())
		insert(&c);
}

static bool put_jumps(uintptr_t start, uintptr_t end)
{
	static const struct sfjit_row row = CODE_JUMP_ROW;
	struct sfjit_function f = {
		.addr = start, .size = end - start, .nr_rows = 1, .rows = &row,
	};
	struct cover c = {
		.start = start, .end = end, .length = SFG_SECTION_MAX(1, 1),
	};
	size_t used;

	c.section = store_get(c.length);
	if (!c.section)
		return false;
	if (!sfg_write_section(SFG_HOST_ABI, &f, 1, (uintptr_t)c.section,
			       c.section, c.length, &used, NULL) &&
	    !insert(&c))
		return true;
	store_put(c.section, c.length);
	return false;
}

static size_t skip_padding(const uint8_t *code, size_t at, size_t length)
{
	size_t n;

	do {
		n = sfg_padding(SFG_HOST_ABI, code + at, length - at);
		at += n;
	} while (n && at < length);
	return at;
}

/*
 * Jumps only where all of the text is: what lies between two of them would be
 * of an unknown kind.
 */
static void fill(uintptr_t start, uintptr_t end)
{
	size_t length = end - start, from = 0, to = 0;
	uint8_t *code = length ? malloc(length) : NULL;

	if (code && self_read(start, code, length) == length) {
		from = skip_padding(code, 0, length);
		to = from + code_jumps(code + from, length - from);
		if (skip_padding(code, to, length) != length)
			to = from;
	}
	if (from < to && put_jumps(start + from, start + to)) {
		put_hole(start, start + from, false);
		start += to;
	}
	put_hole(start, end, false);
}

/* From the end of what is in front of it. */
static void fill_before(uintptr_t start, const struct self_mapping *mapping)
{
	uintptr_t from = mapping->start;
	size_t i;

	if (start - from > FRINGE)
		from = start - FRINGE;
	while ((i = find(start)) > 0 && covers[i - 1].end > from) {
		if (!is_there(i - 1))
			continue;
		from = covers[i - 1].end;
		break;
	}
	fill(from, start);
}

static void fill_behind(uintptr_t end, const struct self_mapping *mapping)
{
	uintptr_t to = mapping->end;
	size_t i;

	if (to - end > FRINGE)
		to = end + FRINGE;
	while ((i = find(end)) < nr_covers && covers[i].start < to) {
		if (!is_there(i))
			continue;
		to = covers[i].start;
		break;
	}
	fill(end, to);
}

static bool is_hole(const struct cover *c)
{
	return !c->owner && !c->stays;
}

/* At either side of it. */
static void drop_holes(uintptr_t start, uintptr_t end)
{
	size_t i = find(start);

	while (i < nr_covers && is_hole(&covers[i]) && covers[i].start == end) {
		end = covers[i].end;
		unregister(i);
	}
	while (i > 0 && is_hole(&covers[i - 1]) && covers[i - 1].end == start) {
		start = covers[i - 1].start;
		unregister(--i);
	}
}

int covers_put(struct cover_owner *owner, uintptr_t start, uintptr_t end,
	       int mappings, const struct self_mapping *mapping)
{
	struct cover c = { .start = start, .end = end, .owner = owner };
	int ret;

	displace(start, end);
	ret = clip_section(owner->section, owner->length, start, end,
			   &c.section, &c.length);
	if (ret)
		return ret;
	ret = insert(&c);
	if (ret)
		store_put(c.section, c.length);
	if (ret || mappings < 0)
		return ret;
	fill_before(start, mapping);
	fill_behind(end, mapping);
	return 0;
}

void covers_end(uintptr_t start, uintptr_t end)
{
	displace(start, end);
	put_hole(start, end, true);
}

bool covers_described(uintptr_t start, uintptr_t end)
{
	size_t i;

	for (i = find(start); i < nr_covers && covers[i].start < end; i++)
		if (covers[i].owner)
			return true;
	return false;
}

bool covers_owned(const struct cover_owner *owner, uintptr_t start,
		  uintptr_t end)
{
	size_t i;

	for (i = find(start); i < nr_covers && covers[i].start < end; i++)
		if (covers[i].owner == owner)
			return true;
	return false;
}

void covers_take(const struct cover_owner *owner, uintptr_t start,
		 uintptr_t end)
{
	size_t i = find(start);

	while (i < nr_covers && covers[i].start < end) {
		if (covers[i].owner == owner)
			unregister(i);
		else
			i++;
	}
}

/* What was covered lies between two that are described, at one, or alone. */
static void fill_around(uintptr_t start, uintptr_t end, int mappings)
{
	struct self_mapping m;
	size_t i;

	drop_holes(start, end);
	if (mappings < 0 || self_mapping(mappings, start, &m) ||
	    m.start > start || !m.executable)
		return;
	i = find(start);
	if (i > 0 && covers[i - 1].owner && covers[i - 1].end > m.start &&
	    is_there(i - 1))
		fill_behind(covers[i - 1].end, &m);
	i = find(end);
	if (i < nr_covers && covers[i].owner && covers[i].start < m.end &&
	    is_there(i))
		fill_before(covers[i].start, &m);
}

void covers_forget_gone(void)
{
	size_t i = nr_covers;

	while (i-- > 0)
		is_there(i);
}

void covers_drop(struct cover_owner *owner, int mappings)
{
	uintptr_t start, end;
	size_t i = 0;

	while (owner->windows && i < nr_covers) {
		if (covers[i].owner != owner) {
			i++;
			continue;
		}
		start = covers[i].start;
		end = covers[i].end;
		unregister(i);
		fill_around(start, end, mappings);
		i = find(start);
	}
}
