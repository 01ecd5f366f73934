// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Change packed tables while the kernel reads them.
 *
 * To change a bucket, a thread reads its index entry, writes a new block to
 * unused bytes, and stores the entry by compare-and-swap. If another thread was
 * faster it starts again. It never writes to a published block: the kernel may
 * still read it. So a thread that is stopped anywhere, or that a fork cuts off,
 * leaves a valid table.
 */
#include <errno.h>
#include <string.h>

#include "growing.h"
#include "growing_rules.h"
#include "internal.h"

#define BUCKET_SHIFT	SFRAME_PACKED_BUCKET_SHIFT
#define LAST		(SFJIT_BUCKET_UNITS - 1)

/* ---- New blocks ------------------------------------------------------ */

/*
 * New rules of units [lo, hi) of a bucket: @first holds from lo on, the others
 * from where changes are, whose lower bytes are units of the bucket. The rules
 * after them stay.
 * @fresh: nothing must be known of the units
 * @spare: the last chunks may be used
 */
struct part {
	uint32_t	bucket, lo, hi;
	uint32_t	nr;
	const uint32_t	*changes;
	const uint16_t	*ids;
	uint16_t	first;
	bool		wide, fresh, spare;
};

/*
 * How a part goes into a block: changes [0, keep) of the block, the first one of
 * the part if @begin, the others, one at its end if @resume, and changes
 * [tail, nr) of the block.
 */
struct plan {
	uint32_t	keep, tail, nr;
	bool		begin, resume, unused;
	uint16_t	before, after;
};

__attribute__((always_inline))
static inline struct plan plan_of(const struct sfjit_block block,
				  const struct part part)
{
	uint16_t last = part.nr ? part.ids[part.nr - 1] : part.first;
	struct plan plan = { 0 };
	uint32_t span;

	plan.keep = sfjit_changes_before(&block, part.lo);
	span = plan.keep;
	if (span < block.nr && block.changes[span] == part.lo)
		span++;
	plan.tail = span;
	while (plan.tail < block.nr && block.changes[plan.tail] < part.hi)
		plan.tail++;
	plan.unused = plan.tail == span &&
		      sfjit_id_at(&block, span) == SFJIT_NO_RULE_ID;
	plan.before = part.first;
	if (part.lo) {
		plan.before = sfjit_id_at(&block, 0);
		/* Not twice that nothing is known. */
		plan.begin = part.first || sfjit_id_at(&block, plan.keep);
	}
	if (part.hi < SFJIT_BUCKET_UNITS) {
		if (plan.tail < block.nr &&
		    block.changes[plan.tail] == part.hi)
			plan.tail++;
		plan.after = sfjit_id_at(&block, plan.tail);
		plan.resume = last || plan.after;
	}
	plan.nr = plan.keep + plan.begin + part.nr + plan.resume + block.nr -
		  plan.tail;
	return plan;
}

/* Where the next change goes, and the number of its rule. */
struct output {
	uint8_t *change, *id;
};

static inline void put_id(struct output *out, uint16_t id, bool wide)
{
	if (wide)
		memcpy(out->id, &id, sizeof(id));
	else
		*out->id = id;
	out->id += 1 + wide;
}

static inline void put_change(struct output *out, uint8_t at, uint16_t id,
			      bool wide)
{
	*out->change++ = at;
	put_id(out, id, wide);
}

/* Inlined twice. Values are passed, so that they can stay in registers. */
__attribute__((always_inline))
static inline void put_block(uint8_t *to, const struct sfjit_block block,
			     const struct part part, const struct plan plan,
			     bool wide)
{
	struct output out = { to + 1, to + 1 + plan.nr };
	uint32_t i;

	*to = plan.nr;
	put_id(&out, plan.before, wide);
	for (i = 0; i < plan.keep; i++)
		put_change(&out, block.changes[i], sfjit_id_at(&block, i + 1),
			   wide);
	if (plan.begin)
		put_change(&out, part.lo, part.first, wide);
	for (i = 0; i < part.nr; i++)
		put_change(&out, part.changes[i], part.ids[i], wide);
	if (plan.resume)
		put_change(&out, part.hi, plan.after, wide);
	for (i = plan.tail; i < block.nr; i++)
		put_change(&out, block.changes[i], sfjit_id_at(&block, i + 1),
			   wide);
}

__attribute__((noinline))
static void put_wide_block(uint8_t *to, const struct sfjit_block block,
			   const struct part part, const struct plan plan)
{
	put_block(to, block, part, plan, true);
}

/* Most tables have few rules. */
static inline void put_narrow_block(uint8_t *to, struct sfjit_block block,
				    const struct part part,
				    const struct plan plan)
{
	block.wide = false;
	put_block(to, block, part, plan, false);
}

/* Bytes that a thread has taken and may use again if it starts again. */
struct taken {
	uint32_t at, size;
};

/* Writes the new block. Returns its entry, or -ENOSPC. */
__attribute__((always_inline))
static inline int64_t make_block(struct sfjit_growing *table,
				 const struct sfjit_block block,
				 const struct part part, const struct plan plan,
				 struct taken *taken)
{
	bool wide = block.wide | part.wide;
	uint32_t size = 1 + plan.nr + ((plan.nr + 1) << wide);
	int64_t at;

	if (!plan.nr)
		return plan.before;
	if (size > taken->size) {
		at = sfjit_growing_take(table, part.bucket, size,
					part.spare);
		if (at < 0)
			return at;
		*taken = (struct taken){ at, size };
	}
	if (wide)
		put_wide_block(table->blocks + taken->at, block, part, plan);
	else
		put_narrow_block(table->blocks + taken->at, block, part, plan);
	return SFRAME_PACKED_BLOCK | (wide ? SFRAME_PACKED_WIDE : 0) |
	       taken->at;
}

static bool change_entry(struct sfjit_growing *table, uint32_t bucket,
			 uint32_t *from, uint32_t to)
{
	return __atomic_compare_exchange_n(&table->index[bucket], from, to,
					   false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* An entry before and after a change. */
struct swap {
	uint32_t from, to;
};

/*
 * Returns 0, -EEXIST or -ENOSPC. Inlined: a call with structures is slower, as
 * what several stores have written is copied then.
 */
__attribute__((always_inline))
static inline int change_bucket(struct sfjit_growing *table,
				const struct part part, struct swap *swap)
{
	struct taken taken = { 0 };
	struct sfjit_block block;
	struct plan plan;
	int64_t to;

	swap->from = sfjit_load_entry(table, part.bucket);
	do {
		block = sfjit_block_of(table, swap->from);
		plan = plan_of(block, part);
		if (part.fresh && !plan.unused)
			return -EEXIST;
		to = make_block(table, block, part, plan, &taken);
		if (to < 0)
			return to;
	} while (!change_entry(table, part.bucket, &swap->from, to));
	swap->to = to;
	return 0;
}

/* The same where time counts less. */
__attribute__((noinline))
static int change_part(struct sfjit_growing *table, const struct part *part)
{
	struct swap swap;

	return change_bucket(table, *part, &swap);
}

/* ---- Forgetting ------------------------------------------------------ */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Units [lo, hi), which are in one bucket. */
static int clear_in_bucket(struct sfjit_growing *table, uint32_t lo,
			   uint32_t hi)
{
	const struct part part = {
		.bucket = lo >> BUCKET_SHIFT, .lo = lo & LAST,
		.hi = hi - (lo & ~LAST), .first = SFJIT_NO_RULE_ID,
		.spare = true,
	};

	if (!sfjit_load_entry(table, part.bucket))
		return 0;
	return change_part(table, &part);
}

int sfjit_growing_clear(struct sfjit_growing *table, uint32_t lo, uint32_t hi)
{
	uint32_t at;
	int ret = 0;

	while (hi > lo && !ret) {
		at = (hi - 1) & ~LAST;
		ret = clear_in_bucket(table, at > lo ? at : lo, hi);
		hi = at;
	}
	return ret;
}

/* The entries first: until then a child of fork() has blocks in use. */
void sfjit_growing_wipe(struct sfjit_growing *table)
{
	uint32_t i;

	for (i = 0; i < table->nr_buckets; i++)
		if (table->index[i])
			__atomic_store_n(&table->index[i], 0, __ATOMIC_RELEASE);
	sfjit_growing_free(table, 0, table->nr_zones);
	for (i = 0; i <= table->slot_mask; i++)
		if (table->slots[i])
			__atomic_store_n(&table->slots[i], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&table->counters->used_rules, SFJIT_HOLE_ID + 1,
			 __ATOMIC_RELEASE);
}

/* ---- Functions ------------------------------------------------------- */

/*
 * Where reading of functions is: at @row of rows that begin at offset @base of
 * the text. A hole and a signal trampoline are one row each, with a flag.
 */
struct source {
	struct sfjit_growing *table;
	const struct sfjit_function *function, *end;
	const struct sfjit_row *row, *first_row, *last_row;
	uint64_t	base;
	uint32_t	first_unit, shift;
	uint32_t	all_flags, flags;	/* of keys */
	bool		all_read;
};

static const struct sfjit_row no_row;

static uint64_t end_of(const struct source *s)
{
	return s->function->addr - s->table->text + s->function->size;
}

static void begin_rows(struct source *s, uint64_t base,
		       const struct sfjit_row *rows, uint32_t nr,
		       uint32_t flags)
{
	s->base = base;
	s->row = s->first_row = rows;
	s->last_row = rows + nr;
	s->flags = s->all_flags | flags;
}

/* The last block of a function that repeats may be cut off. */
static void clip_rows(struct source *s)
{
	while (s->base + s->last_row[-1].start >= end_of(s))
		s->last_row--;
}

static void begin_function(struct source *s)
{
	const struct sfjit_function *f = s->function;
	uint64_t base = f->addr - s->table->text;

	if (f->nr_rows)
		begin_rows(s, base, f->rows, f->nr_rows, (uint32_t)f->flags <<
			   SFJIT_KEY_FUNCTION_SHIFT);
	else
		begin_rows(s, base, &no_row, 1, SFJIT_KEY_SIGNAL);
	if (f->repeat)
		clip_rows(s);
}

static bool is_hole(const struct source *s)
{
	return s->flags & SFJIT_KEY_HOLE;
}

/* The rows after those that were read. Returns false if there are none. */
static bool next_rows(struct source *s)
{
	const struct sfjit_function *f = s->function;
	uint64_t end = end_of(s);

	if (f->repeat && f->nr_rows > 1 && !is_hole(s) &&
	    s->base + f->repeat < end) {
		s->base += f->repeat;
		s->row = s->first_row;
		clip_rows(s);
		return true;
	}
	if (f + 1 == s->end)
		return false;
	if (!is_hole(s) && f[1].addr - s->table->text > end) {
		begin_rows(s, end, &no_row, 1, SFJIT_KEY_HOLE);
		return true;
	}
	s->function++;
	begin_function(s);
	return true;
}

/* Rows are in order, and inside of the function and of its blocks. */
static int check_function(const struct sfjit_function *function)
{
	uint32_t end = function->repeat ? function->repeat : function->size;

	if (!function->size)
		return -EINVAL;
	if (!function->nr_rows)
		return function->flags & SFJIT_FUNCTION_SIGNAL ? 0 : -EINVAL;
	return function->rows[0].start ||
	       function->rows[function->nr_rows - 1].start >= end ?
	       -EINVAL : 0;
}

/*
 * Changes that were read and not yet written, those of a bucket and more. There
 * is always space for those of a bucket.
 */
#define MAX_CHANGES	(2 * SFJIT_BUCKET_UNITS)

struct changes {
	uint32_t	nr, done;
	uint32_t	unit[MAX_CHANGES];
	uint16_t	id[MAX_CHANGES];
};

/*
 * Reads rows as long as there is space. If several are in one unit, the last
 * one counts. The loop uses local variables, because a store of a change could
 * be one to the structures.
 */
static int read_rows(struct source *s, struct changes *to)
{
	const uint32_t shift = s->shift, first_unit = s->first_unit;
	const struct sfjit_row *row = s->row, *last = s->last_row;
	uint64_t base = s->base + (1u << shift) - 1;
	uint32_t nr = to->nr, unit, flags = s->flags;
	int id;

	for (; row != last && nr < MAX_CHANGES; row++) {
		if (row->flags > UINT8_MAX ||
		    (row != s->first_row && row->start <= row[-1].start))
			return -EINVAL;
		unit = (base + row->start) >> shift;
		id = sfjit_rule_id(s->table, row, flags |
				   (unit == first_unit ? SFJIT_KEY_FIRST : 0));
		if (id < 0)
			return id;
		if (nr && to->unit[nr - 1] == unit)
			nr--;
		to->unit[nr] = unit;
		to->id[nr++] = id;
	}
	s->row = row;
	to->nr = nr;
	return 0;
}

/* Reads more changes, unless there are none. */
static int read_changes(struct source *s, struct changes *to)
{
	uint32_t left = to->nr - to->done;
	int ret;

	if (left) {
		memmove(to->unit, to->unit + to->done,
			left * sizeof(to->unit[0]));
		memmove(to->id, to->id + to->done, left * sizeof(to->id[0]));
	}
	to->nr = left;
	to->done = 0;
	do
		ret = read_rows(s, to);
	while (!ret && s->row == s->last_row && !(s->all_read = !next_rows(s)));
	return ret;
}

/* Whether nothing is known of the buckets after the first one. */
static bool are_unused(const struct sfjit_growing *table, uint32_t lo,
		       uint32_t hi)
{
	struct sfjit_span span;

	for (lo = (lo | LAST) + 1; lo < hi; lo = span.hi) {
		span = sfjit_growing_span(table, lo);
		if (span.id != SFJIT_NO_RULE_ID)
			return false;
	}
	return true;
}

/*
 * Forgets units [lo, hi) of a function that could not be published. The first
 * bucket needs no new block unless it has changed since.
 */
static void take_back(struct sfjit_growing *table, uint32_t lo, uint32_t hi,
		      struct swap first)
{
	uint32_t end = (lo | LAST) + 1;

	if (hi <= lo)
		return;
	if (hi > end)
		sfjit_growing_clear(table, end, hi);
	if (!change_entry(table, lo >> BUCKET_SHIFT, &first.to, first.from))
		sfjit_growing_clear(table, lo, least(end, hi));
}

/*
 * The changes in units [lo, hi), which are in one bucket. @now is the rule
 * before them, and then the last one of them.
 */
__attribute__((always_inline))
static inline int next_part(struct source *s, struct changes *c, uint32_t lo,
			    uint32_t hi, uint16_t *now, struct part *part)
{
	uint32_t i, all = 0;
	int ret;

	if (c->unit[c->nr - 1] < hi && !s->all_read) {
		ret = read_changes(s, c);
		if (ret)
			return ret;
	}
	if (c->done < c->nr && c->unit[c->done] == lo) {
		part->first = c->id[c->done++];
	} else {
		ret = sfjit_continued_id(s->table, *now);
		if (ret < 0)
			return ret;
		part->first = ret;
	}
	for (i = c->done; i < c->nr && c->unit[i] < hi; i++)
		all |= c->id[i];
	*now = i > c->done ? c->id[i - 1] : part->first;
	part->bucket = lo >> BUCKET_SHIFT;
	part->lo = lo & LAST;
	part->hi = hi - (lo & ~LAST);
	part->changes = c->unit + c->done;
	part->ids = c->id + c->done;
	part->nr = i - c->done;
	part->wide = (all | part->first) > UINT8_MAX;
	c->done = i;
	return 0;
}

/*
 * The first unit first: it represents the function. So if a fork cuts this off,
 * the child can withdraw it.
 */
static int publish_units(struct source *s, struct changes *c, uint32_t lo,
			 uint32_t hi)
{
	struct part part = { .fresh = true };
	struct swap swap, first = { 0 };
	uint32_t at, end;
	uint16_t now = 0;
	int ret;

	for (at = lo; at < hi; at = end) {
		end = least((at | LAST) + 1, hi);
		ret = next_part(s, c, at, end, &now, &part);
		if (!ret)
			ret = change_bucket(s->table, part, &swap);
		if (ret) {
			take_back(s->table, lo, at, first);
			return ret;
		}
		if (at == lo)
			first = swap;
	}
	return 0;
}

static uint32_t unit_mask(const struct sfjit_growing *table)
{
	return (1u << table->unit_shift) - 1;
}

static int check_functions(const struct sfjit_growing *table,
			   const struct sfjit_function *functions, size_t nr)
{
	size_t i;
	int ret;

	for (i = 0; i < nr; i++) {
		ret = check_function(&functions[i]);
		if (ret)
			return ret;
		if ((functions[i].addr - table->text) & unit_mask(table))
			return -EINVAL;
	}
	return 0;
}

int sfjit_growing_publish(struct sfjit_growing *table,
			  const struct sfjit_function *functions, size_t nr,
			  uint32_t flags)
{
	struct source s = {
		.table = table, .function = functions, .end = functions + nr,
		.all_flags = flags, .shift = table->unit_shift,
	};
	int ret = check_functions(table, functions, nr);
	struct changes changes;
	uint32_t hi;

	if (ret)
		return ret;
	hi = sfjit_growing_unit_up(table, functions[nr - 1].addr - table->text +
				   functions[nr - 1].size);
	s.first_unit = (functions->addr - table->text) >> table->unit_shift;
	/* Fail before anything is changed. */
	if (!are_unused(table, s.first_unit, hi))
		return -EEXIST;
	begin_function(&s);
	changes.nr = changes.done = 0;
	ret = read_changes(&s, &changes);
	return ret ? ret : publish_units(&s, &changes, s.first_unit, hi);
}

/* ---- Copies ---------------------------------------------------------- */

/* The number of a rule in another table. */
static int copied_id(struct sfjit_growing *to, const struct sfjit_growing *from,
		     uint16_t id, bool first)
{
	struct sfjit_row row = sfjit_row_of(from, id);

	if (id <= SFJIT_HOLE_ID)
		return id;
	if (!first)
		row.flags &= ~SFJIT_KEY_FIRST;
	return sfjit_rule_id(to, &row, 0);
}

static bool is_change(const struct sfjit_growing *table, uint16_t before,
		      uint16_t id)
{
	return id != before || sfjit_growing_is_first(table, id);
}

/* The rules of units [lo, hi) of @from, which are in one bucket of @to. */
static int copy_part(struct sfjit_growing *to, const struct sfjit_growing *from,
		     uint32_t lo, uint32_t hi, uint32_t moved)
{
	uint32_t base = (lo + moved) & ~LAST, at = lo;
	struct part part = {
		.bucket = base >> BUCKET_SHIFT, .lo = (lo + moved) & LAST,
		.hi = hi + moved - base,
	};
	uint16_t ids[SFJIT_BUCKET_UNITS + 1];
	uint32_t changes[SFJIT_BUCKET_UNITS + 1];
	struct sfjit_span span;
	uint32_t nr = 0;
	int id;

	for (; at < hi; at = span.hi) {
		span = sfjit_growing_span(from, at);
		id = copied_id(to, from, span.id, span.lo == at);
		if (id < 0)
			return id;
		if (nr && !is_change(to, ids[nr - 1], id))
			continue;
		part.wide |= id > UINT8_MAX;
		changes[nr] = at + moved;
		ids[nr++] = id;
	}
	part.first = ids[0];
	part.nr = nr - 1;
	part.changes = changes + 1;
	part.ids = ids + 1;
	return change_part(to, &part);
}

int sfjit_growing_copy(struct sfjit_growing *to,
		       const struct sfjit_growing *from)
{
	uint32_t moved = (from->text - to->text) >> to->unit_shift, lo, hi;
	struct sfjit_span span;
	int ret = 0;

	for (lo = 0; lo < from->units && !ret; lo = hi) {
		span = sfjit_growing_span(from, lo);
		hi = ((lo + moved) | LAST) + 1 - moved;
		hi = least(hi, from->units);
		if (span.id == SFJIT_NO_RULE_ID && span.hi >= hi)
			continue;
		ret = copy_part(to, from, lo, hi, moved);
	}
	return ret;
}
