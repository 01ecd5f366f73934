// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Reads packed tables. A look-up is what a kernel does: the header was checked
 * once, each byte after it is read, then bounded, then used.
 */
#include "core.h"

#define HEADER_SIZE	sizeof(struct sframe_packed_header)
#define RULE_SIZE	sizeof(struct sframe_packed_rule)
#define BUCKET_UNITS	(1u << SFRAME_PACKED_BUCKET_SHIFT)

/* Where one rule holds, in units from the start of the bucket. */
struct span {
	uint32_t lo, hi, id;
};

static int fail_read(struct sfg_error *err, size_t offset, const char *reason)
{
	return sfg_fail(err, offset, reason, -EINVAL);
}

static uint64_t get_uint(const struct sfg_packed *t, size_t at, size_t len)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < len; i++)
		v |= (uint64_t)t->data[at + i] <<
		     8 * (t->arch->big_endian ? len - 1 - i : i);
	return v;
}

static void swap_header(struct sframe_packed_header *h, bool swap)
{
	h->magic = swap16(swap, h->magic);
	h->nr_rules = swap16(swap, h->nr_rules);
	h->text_start = swap64(swap, h->text_start);
	h->text_length = swap32(swap, h->text_length);
	h->blocks_len = swap32(swap, h->blocks_len);
}

static int check_packed_header(struct sfg_packed *t, struct sfg_error *err)
{
	struct sframe_packed_header *h = &t->header;

	t->arch = sfg_arch_by_abi(h->abi_arch);
	if (h->version != SFRAME_PACKED_VERSION)
		return sfg_fail(err, 2, "version of the table is not 1",
				-ENOTSUP);
	if (!t->arch)
		return sfg_fail(err, 3, "unknown SFrame ABI", -ENOTSUP);
	swap_header(h, arch_swaps(t->arch));
	if (h->magic != SFRAME_PACKED_MAGIC)
		return fail_read(err, 0, "no magic of a packed table");
	if (h->unit_shift != t->arch->unit_shift)
		return fail_read(err, 4, "unit is not the ABI's");
	if (h->repeat % (1u << h->unit_shift))
		return fail_read(err, 5, "rules repeat inside of a unit");
	if (!h->nr_rules)
		return fail_read(err, 6, "no rules");
	if (h->text_start % (1u << h->unit_shift) ||
	    h->text_start + h->text_length < h->text_start)
		return fail_read(err, 8, "bad start of the code");
	return 0;
}

static int check_lengths(struct sfg_packed *t, struct sfg_error *err)
{
	const struct sframe_packed_header *h = &t->header;
	unsigned int shift = SFRAME_PACKED_BUCKET_SHIFT + h->unit_shift;
	uint64_t length = h->text_length;

	if (h->repeat && length > h->repeat)
		length = h->repeat;
	t->nr_buckets = (length + (1u << shift) - 1) >> shift;
	t->index_off = HEADER_SIZE + h->nr_rules * RULE_SIZE;
	t->blocks_off = t->index_off + 4 * (size_t)t->nr_buckets;
	if (t->blocks_off + h->blocks_len + SFRAME_PACKED_PAD > t->len)
		return fail_read(err, 20, "table is truncated");
	return 0;
}

int sfg_open_packed(struct sfg_packed *table, const void *data, size_t len,
		    struct sfg_error *err)
{
	struct sfg_packed t = { .data = data, .len = len };
	int ret;

	if (len < HEADER_SIZE)
		return fail_read(err, len, "header of the table is truncated");
	memcpy(&t.header, data, HEADER_SIZE);
	ret = check_packed_header(&t, err);
	if (!ret)
		ret = check_lengths(&t, err);
	if (!ret)
		*table = t;
	return ret;
}

static struct packed_rule read_rule(const struct sfg_packed *t, uint32_t id)
{
	size_t at = HEADER_SIZE + id * RULE_SIZE;
	struct packed_rule rule = { .r = {
		.kind = t->data[at], .cfa = t->data[at + 1],
		.ra = t->data[at + 2], .fp = t->data[at + 3],
		.cfa_off = get_uint(t, at + 4, 4),
		.ra_off = get_uint(t, at + 8, 4),
		.fp_off = get_uint(t, at + 12, 4),
	} };

	if (SFRAME_PACKED_KIND(rule.r.kind) == SFRAME_PACKED_RULES &&
	    rule.r.kind & SFRAME_PACKED_HAS_ADDEND &&
	    id + 1 < t->header.nr_rules)
		rule.addend = get_uint(t, at + RULE_SIZE + 4, 4);
	return rule;
}

static struct sfjit_rule rule_at(uint8_t place, int32_t offset)
{
	struct sfjit_rule rule = SFJIT_NO_RULE;

	if (!(place & SFRAME_PACKED_BASE))
		return rule;
	rule.base = place & SFRAME_PACKED_CFA ? SFJIT_BASE_CFA :
						SFJIT_BASE_REG;
	rule.deref = (place & SFRAME_PACKED_LOAD) != 0;
	rule.reg = SFRAME_PACKED_REGNUM(place);
	rule.offset = offset;
	return rule;
}

static void decode_plain(const struct sfg_arch *arch,
			 const struct sframe_packed_rule *r,
			 struct sfjit_row *row)
{
	row->cfa = sfjit_rule_reg(r->kind & SFRAME_PACKED_FROM_FP ? arch->fp :
				  arch->sp, r->cfa_off);
	row->ra = sfjit_rule_saved(r->ra_off);
	if (r->kind & SFRAME_PACKED_FP_SAVED)
		row->fp = sfjit_rule_saved(r->fp_off);
	row->flags |= r->cfa * SFJIT_ROW_RBX_KEPT & SFJIT_ROW_RBX;
}

static void decode_places(const struct packed_rule *rule, struct sfjit_row *row)
{
	const struct sframe_packed_rule *r = &rule->r;

	row->cfa = rule_at(r->cfa, r->cfa_off);
	row->ra = rule_at(r->ra, r->ra_off);
	row->fp = rule_at(r->fp, r->fp_off);
	row->cfa.addend = rule->addend;
}

static void decode_flags(uint8_t kind, struct sfjit_row *row, uint8_t *flags)
{
	if (kind & SFRAME_PACKED_MANGLED_RA)
		row->flags |= SFJIT_ROW_MANGLED_RA;
	if (kind & SFRAME_PACKED_KEY_B)
		*flags |= SFJIT_FUNCTION_PAUTH_KEY_B;
	if (kind & SFRAME_PACKED_EXACT)
		*flags |= SFJIT_FUNCTION_SIGNAL;
}

/* Rows of an ABI whose calls store the return address do not name its place. */
static void decode_rule(const struct sfg_arch *arch,
			const struct packed_rule *rule, struct sfjit_row *row,
			uint8_t *flags)
{
	memset(row, 0, sizeof(*row));
	*flags = 0;
	switch (SFRAME_PACKED_KIND(rule->r.kind)) {
	case SFRAME_PACKED_PLAIN:
		decode_flags(rule->r.kind, row, flags);
		decode_plain(arch, &rule->r, row);
		break;
	case SFRAME_PACKED_RULES:
		decode_flags(rule->r.kind, row, flags);
		decode_places(rule, row);
		break;
	case SFRAME_PACKED_SIGNAL:
		*flags = SFJIT_FUNCTION_SIGNAL;
		break;
	case SFRAME_PACKED_OUTERMOST:
		row->flags = SFJIT_ROW_OUTERMOST;
		break;
	case SFRAME_PACKED_FP:
		row->flags = SFG_ROW_FP;
	}
	if (row->ra.base == SFJIT_BASE_CFA && row->ra.deref &&
	    arch->fixed_ra && row->ra.offset == arch->fixed_ra)
		row->ra = sfjit_rule_none();
}

/* A rule has one form: that which is made of the row that it stands for. */
static const char *check_rule(const struct sfg_arch *arch,
			      const struct packed_rule *rule,
			      struct sfjit_row *row, uint8_t *flags)
{
	unsigned int kind = SFRAME_PACKED_KIND(rule->r.kind);
	struct packed_rule form = { .r.kind = kind };

	if (kind > SFRAME_PACKED_FP)
		return "unknown kind of rule";
	decode_rule(arch, rule, row, flags);
	if (kind == SFRAME_PACKED_PLAIN || kind == SFRAME_PACKED_RULES) {
		if (!sfg_row_fits(arch, row))
			return "rule that the format does not allow";
		sfg_encode_rule(arch, row, *flags, &form);
	}
	return memcmp(rule, &form, sizeof(form)) ? "rule in another form" : NULL;
}

/* Checked: the byte of the count, all changes and ids are in the blocks. */
struct block {
	size_t at;		/* of the changes */
	uint32_t n;
	unsigned int shift;	/* log2 of an id's bytes */
};

static const char *find_packed_block(const struct sfg_packed *t, uint32_t entry,
				     struct block *b)
{
	uint32_t off = SFRAME_PACKED_OFFSET(entry);

	if (off >= t->header.blocks_len)
		return "block is outside of the table";
	b->at = t->blocks_off + off + 1;
	b->n = t->data[b->at - 1];
	b->shift = entry & SFRAME_PACKED_WIDE ? 1 : 0;
	if (t->header.blocks_len - off < 1 + b->n + ((b->n + 1) << b->shift))
		return "block is outside of the table";
	return NULL;
}

static uint32_t id_in(const struct sfg_packed *t, const struct block *b,
		      uint32_t i)
{
	return get_uint(t, b->at + b->n + (i << b->shift), 1u << b->shift);
}

static uint32_t index_entry(const struct sfg_packed *t, uint32_t bucket)
{
	return get_uint(t, t->index_off + 4 * (size_t)bucket, 4);
}

/* The unit is one of the table's. */
static const char *find_span(const struct sfg_packed *t, uint32_t unit,
			     struct span *s)
{
	uint32_t entry = index_entry(t, unit / BUCKET_UNITS), i = 0;
	const char *reason;
	struct block b;

	*s = (struct span){ 0, BUCKET_UNITS, SFRAME_PACKED_RULE(entry) };
	if (entry & SFRAME_PACKED_BLOCK) {
		reason = find_packed_block(t, entry, &b);
		if (reason)
			return reason;
		while (i < b.n && t->data[b.at + i] <= unit % BUCKET_UNITS)
			i++;
		s->id = id_in(t, &b, i);
		if (i)
			s->lo = t->data[b.at + i - 1];
		if (i < b.n)
			s->hi = t->data[b.at + i];
	}
	return s->id < t->header.nr_rules ? NULL : "no such rule";
}

/* Bytes from the start of the code, or of a block if that repeats. */
static uint32_t text_length(const struct sfg_packed *t)
{
	return t->header.repeat && t->header.repeat < t->header.text_length ?
	       t->header.repeat : t->header.text_length;
}

/* Bytes [*lo, *hi) from the start have the rule *id; 'at' is one of them. */
static int find_range(const struct sfg_packed *t, uint32_t at, uint32_t *lo,
		      uint32_t *hi, uint32_t *id, struct sfg_error *err)
{
	unsigned int shift = t->header.unit_shift;
	uint32_t unit = at >> shift, bucket = unit & -BUCKET_UNITS;
	struct span s;
	const char *reason = find_span(t, unit, &s);
	uint64_t end = (uint64_t)(bucket + s.hi) << shift;

	if (reason)
		return fail_read(err, t->index_off +
				 4 * (size_t)(unit / BUCKET_UNITS), reason);
	*lo = (bucket + s.lo) << shift;
	*hi = end < text_length(t) ? end : text_length(t);
	*id = s.id;
	return 0;
}

/* -ENOENT: nothing is known. */
static int get_rule(const struct sfg_packed *t, uint32_t id,
		    struct sfjit_function *fde, struct sfjit_row *row,
		    struct sfg_error *err)
{
	struct packed_rule rule = read_rule(t, id);
	const char *reason;

	memset(fde, 0, sizeof(*fde));
	reason = check_rule(t->arch, &rule, row, &fde->flags);
	if (reason)
		return fail_read(err, HEADER_SIZE + id * RULE_SIZE, reason);
	fde->nr_rows = rule.r.kind && rule.r.kind != SFRAME_PACKED_SIGNAL;
	return rule.r.kind ? 0 : -ENOENT;
}

/* Of a table that repeats, a row is that of each block. */
static void set_range(const struct sfg_packed *t, uint32_t lo, uint32_t hi,
		      struct sfjit_function *fde, struct sfjit_row *row)
{
	fde->addr = t->header.text_start;
	fde->size = t->header.text_length;
	fde->repeat = t->header.repeat;
	row->start = lo;
	if (fde->repeat)
		return;
	fde->addr += lo;
	fde->size = hi - lo;
	row->start = 0;
}

int sfg_find_packed_row(const struct sfg_packed *table, uint64_t addr,
			struct sfjit_function *fde, struct sfjit_row *row,
			struct sfg_error *err)
{
	uint64_t at = addr - table->header.text_start;
	struct sfjit_function f = { 0 };
	uint32_t lo, hi, id;
	struct sfjit_row r;
	int ret = -ENOENT;

	if (at < table->header.text_length) {
		if (table->header.repeat)
			at %= table->header.repeat;
		ret = find_range(table, at, &lo, &hi, &id, err);
		if (!ret)
			ret = get_rule(table, id, &f, &r, err);
	}
	if (ret && ret != -ENOENT)
		return ret;
	if (!ret)
		set_range(table, lo, hi, &f, &r);
	*fde = f;
	if (ret || !f.nr_rows)
		return sfg_fail(err, 0, "no row covers the address", -ENOENT);
	*row = r;
	return 0;
}

/* Goes on over buckets while the rule is the same. */
static int join_ranges(const struct sfg_packed *t, uint32_t id, uint32_t *hi,
		       struct sfg_error *err)
{
	uint32_t lo, end, next = id;
	int ret = 0;

	while (*hi < text_length(t)) {
		ret = find_range(t, *hi, &lo, &end, &next, err);
		if (ret || next != id)
			break;
		*hi = end;
	}
	return ret;
}

int sfg_next_packed_row(const struct sfg_packed *table, uint64_t *at,
			struct sfjit_function *fde, struct sfjit_row *row,
			struct sfg_error *err)
{
	uint32_t lo, hi, id, length = text_length(table);
	struct sfjit_function f;
	struct sfjit_row r;
	int ret = -ENOENT;

	for (hi = *at < length ? *at : length; ret == -ENOENT; ) {
		if (hi == length)
			return sfg_fail(err, 0, "no row is left", -ENOENT);
		ret = find_range(table, hi, &lo, &hi, &id, err);
		if (!ret)
			ret = join_ranges(table, id, &hi, err);
		if (!ret)
			ret = get_rule(table, id, &f, &r, err);
	}
	if (ret)
		return ret;
	set_range(table, lo, hi, &f, &r);
	*at = hi;
	*fde = f;
	*row = r;
	return 0;
}

static int check_rules(const struct sfg_packed *t, struct sfg_error *err)
{
	uint32_t id, nr = t->header.nr_rules;
	struct packed_rule rule, next;
	struct sfjit_row row;
	const char *reason;
	uint8_t flags;

	for (id = 0; id < nr; id++) {
		rule = read_rule(t, id);
		reason = check_rule(t->arch, &rule, &row, &flags);
		if (!id && rule.r.kind)
			reason = "rule 0 is not that nothing is known";
		if (!reason && rule.addend) {
			next = read_rule(t, ++id);
			next.r.cfa_off = 0;
			if (memcmp(&next, &(struct packed_rule){
				   .r.kind = SFRAME_PACKED_ADDEND },
				   sizeof(next)))
				reason = "addend in another form";
		}
		if (reason)
			return fail_read(err, HEADER_SIZE + id * RULE_SIZE,
					 reason);
	}
	return 0;
}

static const char *check_id(const struct sfg_packed *t, uint32_t id)
{
	if (id >= t->header.nr_rules)
		return "no such rule";
	return SFRAME_PACKED_KIND(t->data[HEADER_SIZE + id * RULE_SIZE]) ==
	       SFRAME_PACKED_ADDEND ? "addend in place of a rule" : NULL;
}

static const char *check_block(const struct sfg_packed *t, uint32_t entry)
{
	struct block b;
	const char *reason = find_packed_block(t, entry, &b);
	uint32_t i;

	if (!reason && !b.n)
		reason = "block without changes";
	for (i = 0; !reason && i < b.n; i++)
		if (t->data[b.at + i] <= (i ? t->data[b.at + i - 1] : 0))
			reason = "changes do not increase";
	for (i = 0; !reason && i <= b.n; i++)
		reason = check_id(t, id_in(t, &b, i));
	return reason;
}

int sfg_check_packed(const struct sfg_packed *table, struct sfg_error *err)
{
	int ret = check_rules(table, err);
	const char *reason;
	uint32_t i, entry;

	for (i = 0; i < table->nr_buckets && !ret; i++) {
		entry = index_entry(table, i);
		reason = entry & SFRAME_PACKED_BLOCK ?
			 check_block(table, entry) :
			 check_id(table, SFRAME_PACKED_RULE(entry));
		if (reason)
			ret = fail_read(err, table->index_off + 4 * (size_t)i,
					reason);
	}
	return ret;
}
