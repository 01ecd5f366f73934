// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A unit has the spans of text that its frames are for, whether or not these
 * can be expressed: stacks end where they cannot. The kernel takes text only
 * that is executable, mapping by mapping; the rest waits.
 */
#include <stdlib.h>
#include <string.h>

#include "amend.h"
#include "arena.h"
#include "covers.h"
#include "store.h"
#include "sys.h"
#include "units.h"

/* Functions nearer than this are one span; linkers pad to 16 bytes. */
#define PADDING		16

/* Mappings that one span may lie in. */
#define MAPPINGS_MAX	1024

/* Spans that one event tries again, in the mean. */
#define TRIES		64

/* Bytes of a span that are read when other memory is mapped over it. */
#define COMPARED	(1UL << 20)

/* Units that are kept before it is asked which of them have a window. */
#define KEPT		64

/* How often text that is executable is given to the kernel, which says no. */
#define ATTEMPTS	3

/*
 * A table has an index of all code from its first row to its last. If that is too
 * long, parts that are as far apart as this get tables of their own, up to so many:
 * the frames are converted for each.
 */
#define APART		(64UL << 10)
#define TABLES_MAX	64

struct span {
	uintptr_t start, end;
	bool replaced;		/* memory was mapped over it */
	bool other;		/* and is other code */
	uint64_t sum;		/* of its bytes before */
};

struct unit {
	struct unit *next;
	struct cover_owner owner;
	struct cover_table table;	/* most have one */
	uintptr_t key, group;
	enum unit_source source;
	unsigned int uses;	/* none: its JIT has removed it, it is kept */
	unsigned int refused;
	bool waits, waited;
	bool seen;		/* its text became executable by our calls */
	uint64_t sum;		/* of the frames */
	uint32_t rows, nr_spans;
	struct span spans[];
};

/* Many JITs publish functions one by one: that takes a piece of 128 bytes. */
_Static_assert(sizeof(struct unit) + sizeof(struct span) <= 128,
	       "a unit of one span is larger than it has to be");

static struct unit *units;
static unsigned int nr_waiting;		/* and one that is being covered */
static unsigned int nr_asked;		/* times that others were told so */
static unsigned int nr_kept, may_keep = KEPT;
static size_t waiting_spans, tries;

static size_t unit_size(size_t nr_spans)
{
	return sizeof(struct unit) + nr_spans * sizeof(struct span);
}

static void count_waiting(int change)
{
	__atomic_add_fetch(&nr_waiting, change, __ATOMIC_SEQ_CST);
}

static void count_kept(int change)
{
	__atomic_add_fetch(&nr_kept, change, __ATOMIC_SEQ_CST);
}

static void set_waits(struct unit *u, bool waits)
{
	if (waits == u->waits)
		return;
	u->waits = waits;
	count_waiting(waits ? 1 : -1);
	if (waits)
		waiting_spans += u->nr_spans;
	else
		waiting_spans -= u->nr_spans;
}

static void free_tables(struct unit *u)
{
	const struct cover_table *table = u->owner.tables;
	size_t i;

	for (i = 0; table && i < u->owner.nr_tables; i++)
		store_put((void *)table[i].data, table[i].length);
	if (table != &u->table)
		store_put((void *)table, u->owner.nr_tables * sizeof(*table));
}

static void free_unit(struct unit *u)
{
	set_waits(u, false);
	if (!u->uses)
		count_kept(-1);
	free_tables(u);
	store_put(u, unit_size(u->nr_spans));
}

static void drop_unit(struct unit **link, int mappings)
{
	struct unit *u = *link;

	covers_drop(&u->owner, mappings);
	*link = u->next;
	free_unit(u);
}

static struct unit **find_unit(enum unit_source source, uintptr_t key)
{
	struct unit **link;

	for (link = &units; *link; link = &(*link)->next)
		if ((*link)->key == key && (*link)->source == source)
			break;
	return link;
}

/* And, if it is to be fixed, of bytes without a writable mapping. */
static bool is_executable(const struct span *span, int mappings, bool fixed)
{
	struct self_mapping m;
	uintptr_t at;

	for (at = span->start; at < span->end; at = m.end)
		if (self_mapping(mappings, at, &m) || m.start > at ||
		    !m.executable || (fixed && !m.fixed))
			return false;
	return true;
}

/* False: it cannot be read, or is too long. */
static bool sum_span_text(const struct span *span, uint64_t *sum)
{
	size_t length = span->end - span->start;
	void *text = length <= COMPARED ? malloc(length) : NULL;

	if (!text || self_read(span->start, text, length) != length)
		return false;
	*sum = sum_bytes(SUM_START, text, length);
	return true;
}

/*
 * A description may outlive its code. Memory that is mapped over text may hold
 * the same code again, or undescribed code: compare the bytes. Read them when
 * the text is executable and has no writable mapping any more.
 */
static bool is_same_code(struct unit *u, struct span *span, int mappings)
{
	uint64_t sum;

	if (!span->replaced || span->other)
		return !span->other;
	if (mappings < 0 || !is_executable(span, mappings, false)) {
		set_waits(u, true);
		return false;
	}
	span->other = !sum_span_text(span, &sum) || sum != span->sum;
	return !span->other;
}

static unsigned int count_asked(void)
{
	return __atomic_load_n(&nr_asked, __ATOMIC_SEQ_CST);
}

/*
 * EINVAL may be for text that is not executable, which some kernels refuse, and
 * for other things.
 * Since it was looked at, the text may have been made writable, and executable
 * again by now: who did that has asked, and tries what waits, or is about to.
 */
static int put_part(struct unit *u, const struct span *part, int mappings,
		    const struct self_mapping *m)
{
	unsigned int before = count_asked(), i;
	int ret = -EINVAL;

	for (i = 0; i < ATTEMPTS && ret == -EINVAL; i++) {
		ret = covers_put(&u->owner, part->start, part->end, mappings,
				 m);
		if (ret == -EINVAL &&
		    (mappings < 0 || !is_executable(part, mappings, false) ||
		     count_asked() != before))
			return -EAGAIN;
	}
	return ret;
}

/*
 * Registers the part of a span that is in this mapping. Skip ranges that were
 * described again while it waited: another unit has them.
 */
static void cover_part(struct unit *u, const struct span *part, int mappings,
		       const struct self_mapping *m)
{
	int ret;

	if (!m->executable) {
		set_waits(u, true);
		return;
	}
	if (u->waited && covers_described(part->start, part->end))
		return;
	ret = put_part(u, part, mappings, m);
	if (ret == -EAGAIN)
		set_waits(u, true);
	else if (ret)
		u->refused++;
}

static void cover_span(struct unit *u, const struct span *span, int mappings)
{
	struct self_mapping m = { .end = span->start };
	struct span part = *span;
	unsigned int i;

	for (i = 0; i < MAPPINGS_MAX && part.start < span->end; i++) {
		if (self_mapping(mappings, part.start, &m) ||
		    m.start >= span->end)
			break;
		/* Nothing is mapped there, yet. */
		if (m.start > part.start) {
			set_waits(u, true);
			part.start = m.start;
		}
		part.end = m.end < span->end ? m.end : span->end;
		cover_part(u, &part, mappings, &m);
		part.start = part.end;
	}
	if (part.start < span->end)
		set_waits(u, true);
}

static void cover_spans(struct unit *u, int mappings)
{
	const struct self_mapping all = { .executable = true };
	struct span *s;

	for (s = u->spans; s < u->spans + u->nr_spans; s++) {
		if (!is_same_code(u, s, mappings))
			continue;
		if (mappings < 0)
			cover_part(u, s, mappings, &all);
		else
			cover_span(u, s, mappings);
	}
}

/*
 * Set "waits" before you ask whether the text is executable: it may become so
 * right after the answer.
 */
static void cover(struct unit *u, int mappings)
{
	count_waiting(1);
	u->waited = u->waits;
	set_waits(u, false);
	u->refused = 0;
	cover_spans(u, mappings);
	count_waiting(-1);
}

/* Like the converter: not around the end, and 32 bits long. */
static size_t drop_impossible(struct sfg_image *list, size_t nr)
{
	size_t i, n = 0;

	for (i = 0; i < nr; i++)
		if (list[i].addr + list[i].len >= list[i].addr &&
		    list[i].len <= UINT32_MAX)
			list[n++] = list[i];
	return n;
}

/* Joins those that are less apart than that; returns how many spans there are. */
static size_t join_spans(struct sfg_image *list, size_t nr, uint64_t apart)
{
	size_t i, n = 0;
	uint64_t end;

	for (i = 0; i < nr; i++) {
		end = list[i].addr + list[i].len;
		if (n && list[i].addr - list[n - 1].addr <
			 list[n - 1].len + apart) {
			if (end > list[n - 1].addr + list[n - 1].len)
				list[n - 1].len = end - list[n - 1].addr;
			continue;
		}
		list[n++] = list[i];
	}
	return n;
}

static bool counts_rows;

void units_count_rows(void)
{
	counts_rows = true;
}

static uint32_t count_rows(const void *data, size_t length)
{
	struct sfjit_function f;
	struct sfg_packed table;
	struct sfjit_row row;
	uint32_t nr = 0;
	uint64_t at = 0;

	if (sfg_open_packed(&table, data, length, NULL))
		return 0;
	while (!sfg_next_packed_row(&table, &at, &f, &row, NULL))
		nr++;
	return nr;
}

/* Parts of a unit, in the arena. */
struct parts {
	struct sfg_image *spans;	/* text that is described */
	size_t nr_spans;
	struct sfg_image *text;		/* that each of the tables is for */
	struct sfg_output *tables;
	size_t nr_tables;
	struct sfg_image all;		/* if there is one table */
	struct sfg_output one;
};

static bool keep_tables(struct unit *u, const struct parts *parts)
{
	struct cover_table *kept;
	void *data;
	size_t i;

	u->owner.nr_tables = parts->nr_tables;
	kept = parts->nr_tables == 1 ? &u->table :
	       store_get(parts->nr_tables * sizeof(*kept));
	u->owner.tables = kept;
	for (i = 0; kept && i < parts->nr_tables; i++) {
		data = store_copy(parts->tables[i].data, parts->tables[i].len);
		if (!data)
			return false;
		kept[i] = (struct cover_table) {
			parts->text[i].addr, data, parts->tables[i].len,
		};
		if (counts_rows)
			u->rows += count_rows(data, kept[i].length);
	}
	return kept;
}

static struct unit *make_unit(const struct unit_cfi *cfi, uint64_t sum,
			      const struct parts *parts)
{
	struct unit *u = store_get(unit_size(parts->nr_spans));
	size_t i;

	if (!u)
		return NULL;
	u->key = cfi->key;
	u->group = cfi->group;
	u->source = cfi->source;
	u->uses = 1;
	u->sum = sum;
	u->nr_spans = parts->nr_spans;
	for (i = 0; i < parts->nr_spans; i++)
		u->spans[i] = (struct span) {
			.start = parts->spans[i].addr,
			.end = parts->spans[i].addr + parts->spans[i].len,
		};
	if (keep_tables(u, parts))
		return u;
	free_unit(u);
	return NULL;
}

static int convert_parts(struct sfg_input in, struct parts *parts,
			 struct sfg_error *err)
{
	int ret = 0;
	size_t i;

	parts->text = malloc(parts->nr_spans * sizeof(*parts->text));
	if (!parts->text)
		return -ENOMEM;
	memcpy(parts->text, parts->spans,
	       parts->nr_spans * sizeof(*parts->text));
	parts->nr_tables = join_spans(parts->text, parts->nr_spans, APART);
	if (parts->nr_tables > TABLES_MAX)
		return -E2BIG;
	parts->tables = calloc(parts->nr_tables, sizeof(*parts->tables));
	in.nr_text = 1;
	for (i = 0; parts->tables && i < parts->nr_tables && !ret; i++) {
		in.text = &parts->text[i];
		ret = sfg_convert(&in, &parts->tables[i], NULL, err);
	}
	return parts->tables ? ret : -ENOMEM;
}

static int convert_frames(const struct sfg_input *in, struct parts *parts,
			  struct sfg_error *err)
{
	int ret = sfg_convert(in, &parts->one, NULL, err);

	if (ret == -E2BIG)
		return convert_parts(*in, parts, err);
	parts->text = &parts->all;
	parts->tables = &parts->one;
	parts->nr_tables = 1;
	return ret;
}

static int convert_unit(const struct unit_cfi *cfi, uint64_t sum,
			struct unit **unit, const char **reason)
{
	const struct sfg_input in = {
		.abi = SFG_HOST_ABI,
		.cfi = cfi->cfi,
		.flags = cfi->flags | SFG_INPUT_ADDENDS | SFG_INPUT_PACKED |
			 SFG_INPUT_JIT,
		.text_base = cfi->text_base,
		.data_base = cfi->data_base,
		.amend = cfi->source == UNIT_GDB ? amend_borrowed : NULL,
	};
	struct sfg_error err = { .reason = "cannot be converted" };
	struct parts parts = { .nr_tables = 0 };
	int ret;

	ret = sfg_list_functions(&in, &parts.spans, &parts.nr_spans, &err);
	if (!ret) {
		parts.nr_spans = drop_impossible(parts.spans, parts.nr_spans);
		parts.nr_spans = join_spans(parts.spans, parts.nr_spans,
					    PADDING);
		ret = convert_frames(&in, &parts, &err);
	}
	*reason = err.reason;
	if (ret)
		return ret;
	*reason = "no functions";
	if (!parts.nr_spans)
		return -ENOENT;
	*reason = "no memory for the table";
	*unit = make_unit(cfi, sum, &parts);
	return *unit ? 0 : -ENOMEM;
}

static size_t tables_length(const struct unit *u)
{
	size_t i, length = 0;

	for (i = 0; i < u->owner.nr_tables; i++)
		length += u->owner.tables[i].length;
	return length;
}

static void get_result(const struct unit *u, struct unit_result *result)
{
	*result = (struct unit_result) {
		.windows = u->owner.windows,
		.refused = u->refused,
		.waits = u->waits,
		.rows = u->rows,
		.bytes = tables_length(u),
	};
}

static uint64_t sum_unit_cfi(const struct unit_cfi *cfi)
{
	uint64_t sum = sum_bytes(SUM_START, cfi->cfi.data, cfi->cfi.len);

	sum = sum_bytes(sum, &cfi->text_base, sizeof(cfi->text_base));
	return sum_bytes(sum, &cfi->data_base, sizeof(cfi->data_base));
}

/*
 * New frames at the address of frames that were never removed: the program has
 * reused that memory. The same frames again, in a debugger's list, are the same
 * unit. A kept unit may describe other text.
 */
static struct unit *find_same(const struct unit_cfi *cfi, uint64_t sum,
			      int mappings)
{
	struct unit **link = find_unit(cfi->source, cfi->key);

	if (!*link)
		return NULL;
	if ((*link)->sum != sum || !(*link)->uses) {
		drop_unit(link, mappings);
		return NULL;
	}
	if (cfi->source == UNIT_FRAMES)
		(*link)->uses++;
	return *link;
}

/* Whatever the text is by now, it is what these frames are for. */
static void renew(struct unit *u)
{
	struct span *s;

	for (s = u->spans; s < u->spans + u->nr_spans; s++)
		s->replaced = s->other = false;
}

/* Units whose text was described anew since: nothing is left of them. */
static void sweep_units(void)
{
	struct unit **link = &units, *u;

	while ((u = *link)) {
		if (u->owner.windows || u->waits || u->refused) {
			link = &u->next;
			continue;
		}
		*link = u->next;
		free_unit(u);
	}
}

int units_add(const struct unit_cfi *cfi, struct unit_result *result,
	      const char **reason)
{
	int mappings = self_open_mappings(), ret = 0;
	uint64_t sum = sum_unit_cfi(cfi);
	struct unit *u;

	u = find_same(cfi, sum, mappings);
	if (!u) {
		ret = convert_unit(cfi, sum, &u, reason);
		if (!ret) {
			u->next = units;
			units = u;
		}
	}
	if (!ret) {
		renew(u);
		if (u->uses == 1)
			cover(u, mappings);
		get_result(u, result);
	}
	if (mappings >= 0)
		sys_close(mappings);
	sweep_units();
	return ret;
}

static bool stays_true(const struct unit *u, int mappings)
{
	const struct span *s;

	if (!u->seen || u->waits || !u->owner.windows || mappings < 0)
		return false;
	for (s = u->spans; s < u->spans + u->nr_spans; s++)
		if (!is_executable(s, mappings, true))
			return false;
	return true;
}

/* Text that was unmapped needs nothing kept, and there may be much of it. */
static void keep_few(void)
{
	if (nr_kept <= may_keep)
		return;
	covers_forget_gone();
	sweep_units();
	may_keep = 2 * nr_kept + KEPT;
}

struct units_removed units_remove(enum unit_source source, uintptr_t group)
{
	int mappings = self_open_mappings();
	struct units_removed removed = { 0 };
	struct unit **link = &units, *u;

	while ((u = *link)) {
		if (u->group != group || u->source != source || !u->uses ||
		    --u->uses) {
			link = &u->next;
			continue;
		}
		count_kept(1);
		if (stays_true(u, mappings)) {
			u->refused = 0;
			removed.kept++;
			link = &u->next;
		} else {
			drop_unit(link, mappings);
			removed.gone++;
		}
	}
	if (mappings >= 0)
		sys_close(mappings);
	keep_few();
	return removed;
}

static bool is_unit_in(const struct unit *u, uintptr_t start, uintptr_t end)
{
	const struct span *s;

	for (s = u->spans; s < u->spans + u->nr_spans; s++)
		if (s->start < end && start < s->end)
			return true;
	return false;
}

static bool any_waits(void)
{
	return __atomic_load_n(&nr_waiting, __ATOMIC_SEQ_CST);
}

bool units_waiting(void)
{
	if (!any_waits() && !__atomic_load_n(&nr_kept, __ATOMIC_SEQ_CST))
		return false;
	__atomic_add_fetch(&nr_asked, 1, __ATOMIC_SEQ_CST);
	return true;
}

/*
 * All at once, the newest first: an older one may be for code that was
 * overwritten.
 */
bool units_due(void)
{
	if (!any_waits())
		return false;
	tries += TRIES;
	if (tries < waiting_spans)
		return false;
	tries = 0;
	return true;
}

static void cover_waiting(uintptr_t start, uintptr_t end, bool seen,
			  int mappings, units_tell *tell)
{
	struct unit_result result;
	unsigned int before;
	struct unit *u;

	for (u = units; u; u = u->next) {
		if (!u->waits || !is_unit_in(u, start, end))
			continue;
		before = u->owner.windows;
		cover(u, mappings);
		u->seen = seen;
		get_result(u, &result);
		if (result.windows != before || !result.waits)
			tell(u->key, u->source, &result);
	}
}

static void drop_kept(uintptr_t start, uintptr_t end, int mappings,
		      units_tell *tell)
{
	const struct unit_result nothing = { 0 };
	struct unit **link = &units, *u;

	while ((u = *link)) {
		if (u->uses || !is_unit_in(u, start, end)) {
			link = &u->next;
			continue;
		}
		if (tell)
			tell(u->key, u->source, &nothing);
		drop_unit(link, mappings);
	}
}

static void became_executable(uintptr_t start, uintptr_t end, bool seen,
			      units_tell *tell)
{
	int mappings = self_open_mappings();

	cover_waiting(start, end, seen, mappings, tell);
	drop_kept(start, end, mappings, tell);
	if (mappings >= 0)
		sys_close(mappings);
	sweep_units();
}

void units_executable(uintptr_t start, uintptr_t end, units_tell *tell)
{
	became_executable(start, end, true, tell);
}

void units_missed(units_tell *tell)
{
	became_executable(0, UINTPTR_MAX, false, tell);
}

void units_retry(units_tell *tell)
{
	int mappings = self_open_mappings();

	cover_waiting(0, UINTPTR_MAX, false, mappings, tell);
	if (mappings >= 0)
		sys_close(mappings);
	sweep_units();
}

bool units_any(void)
{
	return __atomic_load_n(&units, __ATOMIC_RELAXED);
}

/* A unit that waits already keeps its sum. */
static void give_up_text(struct unit *u, struct span *span)
{
	uint64_t sum;

	if (!covers_owned(&u->owner, span->start, span->end) ||
	    !sum_span_text(span, &sum))
		return;
	covers_take(&u->owner, span->start, span->end);
	span->sum = sum;
	span->replaced = true;
	set_waits(u, true);
}

void units_replace(uintptr_t start, uintptr_t end)
{
	struct unit *u;
	struct span *s;

	drop_kept(start, end, -1, NULL);
	for (u = units; u; u = u->next)
		for (s = u->spans; s < u->spans + u->nr_spans; s++)
			if (s->start < end && start < s->end)
				give_up_text(u, s);
}
