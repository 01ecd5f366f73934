// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Check packed tables by the kernel's rules. It takes rules in forms that
 * sfg_check_packed() refuses, and so does this file.
 */
#include <errno.h>
#include <string.h>

#include <sfjit/packed.h>

#include "check_packed.h"
#include "verdict.h"

#define HEADER_SIZE	sizeof(struct sframe_packed_header)
#define RULE_SIZE	sizeof(struct sframe_packed_rule)
#define BUCKET_UNITS	(1u << SFRAME_PACKED_BUCKET_SHIFT)

struct reader {
	const unsigned char		*table;
	struct sframe_packed_header	header;
	uint64_t	start;		/* of the code that is described */
	uint64_t	text, text_end;	/* of the window */
	uint64_t	index, blocks;	/* offsets in the table */
};

/* Bytes [lo, hi) from the start, or of a block that repeats, have one rule. */
struct span {
	uint32_t	lo, hi;
	uint32_t	id;
	bool		ascends;	/* changes in its bucket do */
};

struct found {
	uint8_t		flags;		/* of the function */
	bool		is_signal;	/* a signal frame, with or without rules */
	bool		has_row;
};

/* ---- Registration ----------------------------------------------------- */

bool sfjit_is_packed(const struct sfjit_table *table)
{
	uint16_t magic;

	if (!table->section || table->length < sizeof(magic))
		return false;
	memcpy(&magic, table->section, sizeof(magic));
	return magic == SFRAME_PACKED_MAGIC;
}

/* Tables of this library's encoder differ only in numbers. */
static bool has_our_format(const struct sframe_packed_header *header)
{
	struct sframe_packed_header ours;

	return !sfg_init_packed(SFG_HOST_ABI, &ours) &&
	       header->version == ours.version &&
	       header->abi_arch == ours.abi_arch &&
	       header->unit_shift == ours.unit_shift;
}

static const char *check_header(const struct sframe_packed_header *header)
{
	unsigned int unit;

	if (!has_our_format(header))
		return "not the header of this format and machine";
	unit = 1u << header->unit_shift;
	if (header->repeat % unit || header->text_start % unit)
		return "code is not aligned to instructions";
	return header->nr_rules ? NULL : "no rules";
}

/* Bytes of code that the index has entries for. */
static uint64_t indexed_length(const struct reader *r)
{
	uint32_t length = r->header.text_length, repeat = r->header.repeat;

	return repeat && length > repeat ? repeat : length;
}

/* Where they have the rule of the byte at an offset of the code. */
static uint32_t indexed_offset(const struct reader *r, uint32_t off)
{
	return r->header.repeat ? off % r->header.repeat : off;
}

static const char *set_extent(struct reader *r, uint64_t length)
{
	unsigned int shift = SFRAME_PACKED_BUCKET_SHIFT + r->header.unit_shift;

	r->index = HEADER_SIZE + r->header.nr_rules * RULE_SIZE;
	r->blocks = r->index +
		    4 * ((indexed_length(r) + (1u << shift) - 1) >> shift);
	if (r->blocks + r->header.blocks_len + SFRAME_PACKED_PAD > length)
		return "table is shorter than its header says";
	return NULL;
}

static const char *set_text(struct reader *r, const struct sfjit_table *table)
{
	r->text = (uintptr_t)table->text;
	r->text_end = r->text + table->text_length;
	if (!table->text) {
		r->text = r->start;
		r->text_end = r->start + r->header.text_length;
	}
	return r->text < r->text_end ? NULL : "text is empty or wraps around";
}

/* Returns NULL, or why the kernel would return EINVAL. */
static const char *open_table(struct reader *r, const struct sfjit_table *table)
{
	const char *why;

	*r = (struct reader){ .table = table->section };
	/* Every packed table may grow. */
	if (table->flags & ~SFJIT_TABLE_LIVE)
		return "unknown flag";
	if (table->length < HEADER_SIZE)
		return "table is shorter than a header";
	if (table->length > UINT32_MAX ||
	    sfjit_wraps(table->section, table->length))
		return "table is longer than 4 GiB";
	if (!table->text != !table->text_length)
		return "one of text and its length is 0";
	if ((uintptr_t)table->section % SFRAME_PACKED_ALIGN)
		return "table is not at a multiple of 16";
	memcpy(&r->header, table->section, HEADER_SIZE);
	r->start = r->header.text_start + table->bias;
	why = check_header(&r->header);
	if (!why)
		why = set_extent(r, table->length);
	return why ? why : set_text(r, table);
}

/* ---- The rule of an address ------------------------------------------- */

static bool block_ascends(const unsigned char *change, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		if (change[i] <= (i ? change[i - 1] : 0))
			return false;
	return true;
}

/* Units, from the start of the bucket. */
static const char *read_block(const struct reader *r, uint32_t entry,
			      uint8_t unit, struct span *span)
{
	uint32_t off = SFRAME_PACKED_OFFSET(entry), i = 0, nr;
	bool wide = entry & SFRAME_PACKED_WIDE;
	const unsigned char *change = r->table + r->blocks + off + 1, *id;
	uint16_t two;

	if (off >= r->header.blocks_len)
		return "fre_offset";
	nr = change[-1];
	if (1 + nr + ((nr + 1) << wide) > r->header.blocks_len - off)
		return "fre_offset";
	while (i < nr && change[i] <= unit)
		i++;
	span->lo = i ? change[i - 1] : 0;
	span->hi = i < nr ? change[i] : BUCKET_UNITS;
	span->ascends = block_ascends(change, nr);
	id = change + nr + (i << wide);
	memcpy(&two, id, wide ? 2 : 1);
	span->id = wide ? two : *id;
	return NULL;
}

/* @at: bytes from the start, or of a block */
static const char *find_span(const struct reader *r, uint32_t at,
			     struct span *span)
{
	unsigned int shift = r->header.unit_shift;
	uint32_t unit = at >> shift, bucket = unit / BUCKET_UNITS, entry;
	uint64_t end = indexed_length(r), hi;
	const char *why = NULL;

	memcpy(&entry, r->table + r->index + 4 * (uint64_t)bucket, 4);
	*span = (struct span){ 0, BUCKET_UNITS, entry, true };
	if (entry & SFRAME_PACKED_BLOCK)
		why = read_block(r, entry, unit % BUCKET_UNITS, span);
	hi = ((uint64_t)bucket * BUCKET_UNITS + span->hi) << shift;
	span->lo = (bucket * BUCKET_UNITS + span->lo) << shift;
	span->hi = hi < end ? hi : end;
	if (!why && span->id >= r->header.nr_rules)
		why = "fre_offset";
	return why;
}

/* ---- What it says ----------------------------------------------------- */

static void get_rule(const struct reader *r, uint32_t id,
		     struct sframe_packed_rule *rule)
{
	memcpy(rule, r->table + HEADER_SIZE + (uint64_t)id * RULE_SIZE,
	       RULE_SIZE);
}

/* Rows do not name the place where a call stores the return address. */
static void hide_fixed_ra(struct sfjit_row *row)
{
	struct sfjit_row entry;

	sfg_entry_row(SFG_HOST_ABI, &entry);
	if (!sfg_rows_have_ra(SFG_HOST_ABI) && row->ra.deref &&
	    row->ra.base == SFJIT_BASE_CFA &&
	    row->ra.offset == -entry.cfa.offset)
		row->ra = sfjit_rule_none();
}

static void plain_rules(const struct sframe_packed_rule *rule,
			struct sfjit_row *row)
{
	row->cfa = sfjit_rule_reg(rule->kind & SFRAME_PACKED_FROM_FP ?
				  sfg_frame_pointer(SFG_HOST_ABI) :
				  sfg_stack_pointer(SFG_HOST_ABI),
				  rule->cfa_off);
	row->ra = sfjit_rule_saved(rule->ra_off);
	if (rule->kind & SFRAME_PACKED_FP_SAVED)
		row->fp = sfjit_rule_saved(rule->fp_off);
	if (sfg_rows_have_rbx(SFG_HOST_ABI) &&
	    rule->cfa <= SFRAME_PACKED_THIRD_MAX)
		row->flags |= rule->cfa * SFJIT_ROW_RBX_KEPT;
}

/* Returns false for a place that there is not. */
static bool rule_at(uint8_t place, int32_t offset, struct sfjit_rule *rule)
{
	*rule = sfjit_rule_none();
	switch (place & SFRAME_PACKED_BASE) {
	case SFRAME_PACKED_NONE:
		return !place;
	case SFRAME_PACKED_CFA:
		if (SFRAME_PACKED_REGNUM(place))
			return false;
		rule->base = SFJIT_BASE_CFA;
		break;
	case SFRAME_PACKED_REG:
		rule->base = SFJIT_BASE_REG;
		rule->reg = SFRAME_PACKED_REGNUM(place);
		break;
	default:
		return false;
	}
	rule->offset = offset;
	rule->deref = !!(place & SFRAME_PACKED_LOAD);
	return true;
}

static const char *read_addend(const struct reader *r,
			       const struct sframe_packed_rule *rule,
			       uint32_t id, struct sfjit_row *row)
{
	struct sframe_packed_rule next;

	if (!(rule->cfa & SFRAME_PACKED_LOAD))
		return "row_rule";
	if (id >= r->header.nr_rules)
		return "fre_offset";
	get_rule(r, id, &next);
	if (next.kind != SFRAME_PACKED_ADDEND)
		return "row_rule";
	row->cfa.addend = next.cfa_off;
	return NULL;
}

static const char *place_rules(const struct reader *r,
			       const struct sframe_packed_rule *rule,
			       uint32_t id, struct sfjit_row *row)
{
	if (!rule_at(rule->cfa, rule->cfa_off, &row->cfa) ||
	    !rule_at(rule->ra, rule->ra_off, &row->ra) ||
	    !rule_at(rule->fp, rule->fp_off, &row->fp) ||
	    row->cfa.base != SFJIT_BASE_REG)
		return "row_rule";
	/* A stack address is no code, and a call stores the return address. */
	if (row->ra.base == SFJIT_BASE_CFA && !row->ra.deref)
		return "row_rule";
	if (!row->ra.base && !sfg_rows_have_ra(SFG_HOST_ABI))
		return "row_rule";
	if (rule->kind & SFRAME_PACKED_FP_SAVED)
		return "row_rule";
	return rule->kind & SFRAME_PACKED_HAS_ADDEND ?
	       read_addend(r, rule, id + 1, row) : NULL;
}

static const char *rules(const struct reader *r,
			 const struct sframe_packed_rule *rule, uint32_t id,
			 struct sfjit_row *row, struct found *found)
{
	const char *why = NULL;
	uint8_t signs = rule->kind & (SFRAME_PACKED_MANGLED_RA |
				      SFRAME_PACKED_KEY_B);

	if (signs && !may_sign())
		return "row_rule";
	switch (SFRAME_PACKED_KIND(rule->kind)) {
	case SFRAME_PACKED_PLAIN:
		plain_rules(rule, row);
		break;
	case SFRAME_PACKED_RULES:
		why = place_rules(r, rule, id, row);
		break;
	default:
		return "row_rule";
	}
	if (signs & SFRAME_PACKED_MANGLED_RA)
		row->flags |= SFJIT_ROW_MANGLED_RA;
	if (signs & SFRAME_PACKED_KEY_B)
		found->flags |= SFJIT_FUNCTION_PAUTH_KEY_B;
	hide_fixed_ra(row);
	if (rule->kind & SFRAME_PACKED_EXACT) {
		found->flags |= SFJIT_FUNCTION_SIGNAL;
		found->is_signal = !sfg_row_is_called(SFG_HOST_ABI, row);
	}
	return why;
}

static const char *decode(const struct reader *r, uint32_t id,
			  struct sfjit_row *row, struct found *found)
{
	struct sframe_packed_rule rule;

	get_rule(r, id, &rule);
	*row = (struct sfjit_row){ 0 };
	*found = (struct found){ .has_row = true };
	/* Only other rules have flags. */
	switch (rule.kind) {
	case SFRAME_PACKED_UNKNOWN:
		return "no_row";
	case SFRAME_PACKED_SIGNAL:
		*found = (struct found){ SFJIT_FUNCTION_SIGNAL, true, false };
		return NULL;
	case SFRAME_PACKED_OUTERMOST:
		row->flags = SFJIT_ROW_OUTERMOST;
		return NULL;
	case SFRAME_PACKED_FP:
		row->flags = SFG_ROW_FP;
		return NULL;
	}
	return rules(r, &rule, id, row, found);
}

/* ---- All of them ------------------------------------------------------ */

static const char *check_span(const struct reader *r, const struct span *span)
{
	struct sfjit_row row;
	struct found found;
	const char *why = decode(r, span->id, &row, &found);

	if (why)
		return strcmp(why, "no_row") ? why : NULL;
	if (!span->ascends)
		return "row_order";
	return found.is_signal || row.flags & SFG_ROW_FP ? NULL :
							  check_cfa(&row);
}

/* The bytes from the start that are in the text of the window. */
static void set_range(const struct reader *r, uint64_t *first, uint64_t *last)
{
	uint64_t length = r->header.text_length;
	uint64_t window = r->text_end - r->text;

	*first = r->text - r->start;
	*last = *first + window;
	if (*first >= length) {
		/* The text begins before, or has nothing in common. */
		*first = 0;
		*last = window - (r->start - r->text);
		if (r->start - r->text >= window)
			*last = 0;
	}
	if (*last > length)
		*last = length;
	if (r->header.repeat && *last > *first + r->header.repeat)
		*last = *first + r->header.repeat;
}

int sfjit_check_packed(const struct sfjit_table *table,
		       struct sfjit_complaint *complaint)
{
	struct reader r;
	struct span span;
	const char *why = open_table(&r, table);
	uint64_t off, last;
	uint32_t at;

	if (why)
		return complain(complaint, -EINVAL, why, 0);
	set_range(&r, &off, &last);
	if (off == last)
		return complain(complaint, -EBADMSG, "no_fde", r.text);
	for (; off < last; off += span.hi - at) {
		at = indexed_offset(&r, off);
		why = find_span(&r, at, &span);
		if (!why)
			why = check_span(&r, &span);
		if (why)
			return complain(complaint, -EBADMSG, why,
					r.start + off);
	}
	return 0;
}

/* The stretch of code that has the row, or all code if that repeats. */
static void set_function(const struct reader *r, const struct span *span,
			 const struct found *found,
			 struct sfjit_function *function, struct sfjit_row *row)
{
	const struct sframe_packed_header *h = &r->header;

	if (h->repeat)
		row->start = span->lo;
	if (!function)
		return;
	*function = (struct sfjit_function){
		.addr = r->start + (h->repeat ? 0 : span->lo),
		.size = h->repeat ? h->text_length : span->hi - span->lo,
		.nr_rows = found->has_row,
		.flags = found->flags,
		.repeat = h->repeat,
	};
}

static const char *find_row(const struct reader *r, uint64_t ip,
			    struct sfjit_function *function,
			    struct sfjit_row *row)
{
	uint64_t off = ip - r->start;
	struct found found;
	struct sfjit_row got;
	struct span span;
	const char *why;

	if (off >= r->header.text_length)
		return "no_fde";
	why = find_span(r, indexed_offset(r, off), &span);
	if (!why)
		why = decode(r, span.id, &got, &found);
	if (why)
		return why;
	set_function(r, &span, &found, function, &got);
	*row = got;
	return NULL;
}

int sfjit_find_packed_row(const struct sfjit_table *table, const void *ip,
			  struct sfjit_function *function,
			  struct sfjit_row *row,
			  struct sfjit_complaint *complaint)
{
	uintptr_t address = (uintptr_t)ip;
	struct reader r;
	const char *why = open_table(&r, table);

	if (why)
		return complain(complaint, -EINVAL, why, 0);
	if (address < r.text || address >= r.text_end)
		return complain(complaint, -ENOENT, "outside of the text",
				address);
	why = find_row(&r, address, function, row);
	if (!why)
		return 0;
	return complain(complaint, !strcmp(why, "no_fde") ||
			!strcmp(why, "no_row") ? -ENOENT : -EBADMSG, why,
			address);
}

void sfjit_packed_text(const struct sfjit_table *table, uintptr_t *start,
		       uintptr_t *end)
{
	struct reader r;

	open_table(&r, table);
	*start = r.text;
	*end = r.text_end;
}
