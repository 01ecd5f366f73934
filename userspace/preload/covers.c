// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A list sorted by address. The kernel may have dropped any window of it with
 * its text. A key is an address plus a bit that no address has: producers that
 * use plain addresses may have registered a window at the same place since.
 */
#include <stdlib.h>
#include <string.h>

#include <sframegen.h>

#include "code.h"
#include "covers.h"
#include "store.h"
#include "sys.h"
#include "windows.h"

#define KEY_BIT		((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))
#define FRINGE		(64UL << 10)
#define FIRST_ROOM	64
#define JUMPS_REPEAT	16U	/* any multiple of an instruction's alignment */

/*
 * A cover without an owner is undescribed text. It exists because of a
 * neighbour and goes with it, unless it stays.
 *
 * A cover that gave way has no window: the program has registered its own
 * there, with this key. A lost cover has no window either: the text was not
 * executable when we wanted ours back.
 */
struct cover {
	uintptr_t start, end;
	struct cover_owner *owner;
	bool jumps;		/* of no owner, and it has nothing else */
	bool stays;
	bool withdrawn;		/* for a moment: a registration is tried again */
	bool gave_way, lost;
	uintptr_t key;
};

static struct cover *covers;
static size_t nr_covers, room;
static unsigned int nr_gave_way, nr_lost;

/* Tables of what has no owner: any code may be in such a window. */
static struct cover_table hole, jumps;

static bool make_cover_room(void)
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

static bool make_table(struct cover_table *table,
		       const struct sfjit_function *functions, size_t nr)
{
	struct sfg_output out;

	if (table->data)
		return true;
	if (sfg_write_packed(SFG_HOST_ABI, functions, nr, &out, NULL))
		return false;
	table->data = store_copy(out.data, out.len);
	table->length = out.len;
	return table->data;
}

/* Without functions. */
static bool make_hole(void)
{
	const struct sfjit_function none = { 0 };

	return make_table(&hole, &none, 0);
}

/* The row repeats in as much code as a table can be for, from address 0 on. */
static bool make_jumps(void)
{
	static const struct sfjit_row row = CODE_JUMP_ROW;
	const struct sfjit_function all = {
		.size = UINT32_MAX & -JUMPS_REPEAT, .nr_rows = 1, .rows = &row,
		.repeat = JUMPS_REPEAT,
	};

	return make_table(&jumps, &all, 1);
}

/* The first that ends after 'address'. */
static size_t find_cover(uintptr_t address)
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

/* The last one that does not start after it. */
static const struct cover_table *table_at(const struct cover_owner *owner,
					  uintptr_t address)
{
	const struct cover_table *table = owner->tables + owner->nr_tables;

	while (--table > owner->tables && table->start > address)
		;
	return table;
}

static const struct cover_table *table_of(const struct cover *c)
{
	if (c->owner)
		return table_at(c->owner, c->start);
	return c->jumps ? &jumps : &hole;
}

static int register_cover(const struct cover *c, bool again)
{
	const struct cover_table *table = table_of(c);
	const struct windows_entry entry = {
		.key = c->start | KEY_BIT, .table = table->data,
		.length = table->length, .start = c->start, .end = c->end,
		.bias = c->jumps ? c->start : 0,
	};

	return again ? windows_replace(&entry) : windows_register(&entry);
}

static void count_cover(const struct cover *c, int change)
{
	if (c->owner)
		c->owner->windows += change;
	if (c->gave_way)
		__atomic_add_fetch(&nr_gave_way, change, __ATOMIC_SEQ_CST);
	if (c->lost)
		__atomic_add_fetch(&nr_lost, change, __ATOMIC_SEQ_CST);
}

static void forget_cover(size_t i)
{
	struct cover *c = &covers[i];

	count_cover(c, -1);
	nr_covers--;
	memmove(c, c + 1, (nr_covers - i) * sizeof(*c));
}

static void unregister_cover(size_t i)
{
	if (!covers[i].gave_way)
		windows_unregister(covers[i].start | KEY_BIT);
	forget_cover(i);
}

static int insert_cover(const struct cover *new)
{
	size_t i = find_cover(new->start);
	int ret;

	if (!make_cover_room())
		return -ENOMEM;
	ret = new->gave_way ? 0 : register_cover(new, false);
	if (ret)
		return ret;
	memmove(&covers[i + 1], &covers[i], (nr_covers - i) * sizeof(*covers));
	covers[i] = *new;
	nr_covers++;
	count_cover(new, 1);
	return 0;
}

static void displace(uintptr_t start, uintptr_t end)
{
	size_t i = find_cover(start);

	while (i < nr_covers && covers[i].start < end)
		unregister_cover(i);
}

/*
 * The kernel still has it; if not, it is forgotten. So is one that gave way:
 * put_around() finds out whether the program's window is still there.
 */
static bool is_still_there(size_t i)
{
	if (!covers[i].gave_way && register_cover(&covers[i], true) != -ENOENT)
		return true;
	forget_cover(i);
	return false;
}

static struct cover piece_of(const struct cover *like, uintptr_t start,
			     uintptr_t end)
{
	return (struct cover) {
		.start = start, .end = end, .owner = like->owner,
		.jumps = like->jumps, .stays = like->stays,
	};
}

static int put_piece(const struct cover *like, uintptr_t start, uintptr_t end)
{
	const struct cover c = piece_of(like, start, end);

	return c.owner || c.jumps || make_hole() ? insert_cover(&c) : -ENOMEM;
}

static void give_way(const struct cover *like, uintptr_t start, uintptr_t end,
		     uintptr_t key)
{
	struct cover c = piece_of(like, start, end);

	c.gave_way = true;
	c.key = key;
	insert_cover(&c);
}

/* The program's windows stay; ours cover the rest. */
static int put_between(struct self_windows *list, const struct cover *like)
{
	uintptr_t start = like->start, end = like->end, to;
	struct self_window t;
	int ret = 0, first = 0;

	while (start < end && self_next_window(list, &t) && t.start < end) {
		if (t.end <= start)
			continue;
		if (t.start > start) {
			ret = put_piece(like, start, t.start);
			start = t.start;
		}
		to = t.end < end ? t.end : end;
		give_way(like, start, to, t.key);
		start = to;
		first = first ? first : ret;
	}
	if (start < end)
		ret = put_piece(like, start, end);
	return first ? first : ret;
}

static int put_around(const struct cover *like)
{
	struct self_windows list;
	int ret = put_piece(like, like->start, like->end);

	if (ret != -EEXIST || self_open_windows(&list))
		return ret;
	ret = put_between(&list, like);
	self_close_windows(&list);
	return ret;
}

static void put_hole(uintptr_t start, uintptr_t end, bool stays)
{
	const struct cover c = { .start = start, .end = end, .stays = stays };

	if (start < end)
		put_around(&c);
}

static bool put_jumps(uintptr_t start, uintptr_t end)
{
	const struct cover c = { .start = start, .end = end, .jumps = true };

	return make_jumps() && !insert_cover(&c);
}

static size_t skip_cover_padding(const uint8_t *code, size_t at, size_t length)
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
static void fill_covers(uintptr_t start, uintptr_t end)
{
	size_t length = end - start, from = 0, to = 0;
	uint8_t *code = length ? malloc(length) : NULL;

	if (code && self_read(start, code, length) == length) {
		from = skip_cover_padding(code, 0, length);
		to = from + code_jumps(code + from, length - from);
		if (skip_cover_padding(code, to, length) != length)
			to = from;
	}
	if (from < to && put_jumps(start + from, start + to)) {
		put_hole(start, start + from, false);
		start += to;
	}
	put_hole(start, end, false);
}

/* From the end of its predecessor. */
static void fill_before(uintptr_t start, const struct self_mapping *mapping)
{
	uintptr_t from = mapping->start;
	size_t i;

	if (start - from > FRINGE)
		from = start - FRINGE;
	while ((i = find_cover(start)) > 0 && covers[i - 1].end > from) {
		if (!is_still_there(i - 1))
			continue;
		from = covers[i - 1].end;
		break;
	}
	fill_covers(from, start);
}

static void fill_behind(uintptr_t end, const struct self_mapping *mapping)
{
	uintptr_t to = mapping->end;
	size_t i;

	if (to - end > FRINGE)
		to = end + FRINGE;
	while ((i = find_cover(end)) < nr_covers && covers[i].start < to) {
		if (!is_still_there(i))
			continue;
		to = covers[i].start;
		break;
	}
	fill_covers(end, to);
}

static bool is_hole(const struct cover *c)
{
	return !c->owner && !c->stays;
}

/* At either side of it. */
static void drop_holes(uintptr_t start, uintptr_t end)
{
	size_t i = find_cover(start);

	while (i < nr_covers && is_hole(&covers[i]) && covers[i].start == end) {
		end = covers[i].end;
		unregister_cover(i);
	}
	while (i > 0 && is_hole(&covers[i - 1]) && covers[i - 1].end == start) {
		start = covers[i - 1].start;
		unregister_cover(--i);
	}
}

int covers_put(struct cover_owner *owner, uintptr_t start, uintptr_t end,
	       int mappings, const struct self_mapping *mapping)
{
	const struct cover c = { .start = start, .end = end, .owner = owner };
	int ret;

	displace(start, end);
	ret = put_around(&c);
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

	for (i = find_cover(start); i < nr_covers && covers[i].start < end; i++)
		if (covers[i].owner)
			return true;
	return false;
}

bool covers_owned(const struct cover_owner *owner, uintptr_t start,
		  uintptr_t end)
{
	size_t i;

	for (i = find_cover(start); i < nr_covers && covers[i].start < end; i++)
		if (covers[i].owner == owner)
			return true;
	return false;
}

void covers_take(const struct cover_owner *owner, uintptr_t start,
		 uintptr_t end)
{
	size_t i = find_cover(start);

	while (i < nr_covers && covers[i].start < end) {
		if (covers[i].owner == owner)
			unregister_cover(i);
		else
			i++;
	}
}

/* The covered text is between two described ranges, next to one, or alone. */
static void fill_around(uintptr_t start, uintptr_t end, int mappings)
{
	struct self_mapping m;
	size_t i;

	drop_holes(start, end);
	if (mappings < 0 || self_mapping(mappings, start, &m) ||
	    m.start > start || !m.executable)
		return;
	i = find_cover(start);
	if (i > 0 && covers[i - 1].owner && covers[i - 1].end > m.start &&
	    is_still_there(i - 1))
		fill_behind(covers[i - 1].end, &m);
	i = find_cover(end);
	if (i < nr_covers && covers[i].owner && covers[i].start < m.end &&
	    is_still_there(i))
		fill_before(covers[i].start, &m);
}

void covers_forget_gone(void)
{
	size_t i = nr_covers;

	while (i-- > 0)
		if (!covers[i].gave_way)
			is_still_there(i);
}

/* ---- Giving way --------------------------------------------------------- */

bool covers_withdraw(uintptr_t start, uintptr_t end)
{
	bool any = false;
	size_t i;

	for (i = find_cover(start);
	     i < nr_covers && covers[i].start < end; i++) {
		if (covers[i].gave_way)
			continue;
		windows_unregister(covers[i].start | KEY_BIT);
		covers[i].withdrawn = any = true;
	}
	return any;
}

static void put_aside(const struct cover *c, uintptr_t start, uintptr_t end,
		      uintptr_t key)
{
	uintptr_t from = c->start < start ? start : c->start;
	uintptr_t to = c->end < end ? c->end : end;

	if (c->start < from)
		put_piece(c, c->start, from);
	give_way(c, from, to, key);
	if (to < c->end)
		put_piece(c, to, c->end);
}

/* The index moves as pieces come and go: look again after each. */
static bool find_withdrawn(uintptr_t start, uintptr_t end, size_t *i)
{
	for (*i = find_cover(start);
	     *i < nr_covers && covers[*i].start < end; ++*i)
		if (covers[*i].withdrawn)
			return true;
	return false;
}

void covers_give_way(uintptr_t start, uintptr_t end, uintptr_t key)
{
	struct cover c;
	size_t i;

	while (find_withdrawn(start, end, &i)) {
		c = covers[i];
		forget_cover(i);
		put_aside(&c, start, end, key);
	}
}

void covers_put_back(uintptr_t start, uintptr_t end)
{
	size_t i;

	while (find_withdrawn(start, end, &i)) {
		covers[i].withdrawn = false;
		if (register_cover(&covers[i], false))
			forget_cover(i);
	}
}

static bool continues_cover(size_t i, const struct cover *c)
{
	return !covers[i].owner && !covers[i].jumps && !covers[i].gave_way &&
	       covers[i].stays == c->stays;
}

/* One window for it and for the rest on either side. */
static void merge_cover(struct cover c)
{
	size_t i = find_cover(c.start);

	if (c.owner || c.jumps)
		return;
	if (i + 1 < nr_covers && covers[i + 1].start == c.end &&
	    continues_cover(i + 1, &c)) {
		c.end = covers[i + 1].end;
		unregister_cover(i + 1);
	}
	if (i > 0 && covers[i - 1].end == c.start &&
	    continues_cover(i - 1, &c)) {
		c.start = covers[i - 1].start;
		unregister_cover(--i);
	}
	unregister_cover(i);
	put_around(&c);
}

static void lose_cover(const struct cover *like)
{
	struct cover c = *like;

	c.gave_way = c.lost = true;
	insert_cover(&c);
}

static void come_back(size_t i)
{
	const struct cover c = piece_of(&covers[i], covers[i].start,
					covers[i].end);
	int ret;

	forget_cover(i);
	ret = put_piece(&c, c.start, c.end);
	if (!ret)
		merge_cover(c);
	else if (ret == -EEXIST)
		put_around(&c);
	else
		lose_cover(&c);
}

void covers_key_gone(uintptr_t key)
{
	struct cover *c;
	size_t i = nr_covers;

	while (i-- > 0) {
		c = &covers[i];
		if (!c->gave_way || c->lost || c->key != key)
			continue;
		come_back(i);
		if (i > nr_covers)
			i = nr_covers;
	}
}

bool covers_any_gave_way(void)
{
	return __atomic_load_n(&nr_gave_way, __ATOMIC_SEQ_CST);
}

bool covers_lost(void)
{
	return __atomic_load_n(&nr_lost, __ATOMIC_SEQ_CST);
}

void covers_find_lost(uintptr_t start, uintptr_t end)
{
	struct cover *c;
	size_t i = nr_covers;

	while (i-- > 0) {
		c = &covers[i];
		if (!c->lost || c->start >= end || start >= c->end)
			continue;
		come_back(i);
		if (i > nr_covers)
			i = nr_covers;
	}
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
		unregister_cover(i);
		fill_around(start, end, mappings);
		i = find_cover(start);
	}
}
