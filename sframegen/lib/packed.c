// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Writes packed tables: rows to rules, changes of rules to buckets. */
#include <stdlib.h>

#include "core.h"

#define HEADER_SIZE	sizeof(struct sframe_packed_header)
#define RULE_SIZE	sizeof(struct sframe_packed_rule)
#define BUCKET_UNITS	(1u << SFRAME_PACKED_BUCKET_SHIFT)
#define MAX_IDS		(UINT16_MAX + 1u)
#define MAX_BLOCKS	(1u << 30)

/*
 * So many buckets and rows, with those that repeat, are in proportion to any input;
 * and so many more for each of its FDEs and rows.
 */
#define FOR_ANY_INPUT	4096
#define BUCKETS_PER_ROW	64
#define REPEATS_PER_ROW	16

/* Rules are found by their hash. Those that are not are stored twice. */
#define NR_SLOTS	4096
#define MAX_PROBES	16

struct change {
	uint32_t unit;		/* from the start of the table's code */
	uint32_t rule;		/* holds from there on */
};

struct dict_rule {
	struct packed_rule rule;
	uint32_t uses;		/* changes to it */
	uint32_t index;		/* where it was before sorting */
	uint32_t id;		/* by that index */
};

struct block_slot {
	uint32_t off, len;
};

struct writer {
	const struct sfg_arch *arch;
	uint64_t base;
	struct change *changes;
	size_t nr_changes, max_changes;
	struct packed_limits limits;
	struct dict_rule *rules;
	size_t nr_rules, max_rules;
	uint32_t nr_ids;	/* rules and addends */
	uint16_t *slots;	/* of rules */
	struct block_slot *block_slots;
	bool swap;
};

static uint8_t place_of(const struct sfjit_rule *rule)
{
	uint8_t load = rule->deref ? SFRAME_PACKED_LOAD : 0;

	if (rule->base == SFJIT_BASE_NONE)
		return SFRAME_PACKED_NONE;
	if (rule->base == SFJIT_BASE_CFA)
		return SFRAME_PACKED_CFA | load;
	return SFRAME_PACKED_REG | load | rule->reg;
}

static uint8_t flags_of(const struct sfjit_row *row, uint8_t flags)
{
	return (row->flags & SFJIT_ROW_MANGLED_RA ?
		SFRAME_PACKED_MANGLED_RA : 0) |
	       (flags & SFJIT_FUNCTION_PAUTH_KEY_B ? SFRAME_PACKED_KEY_B : 0) |
	       (flags & SFJIT_FUNCTION_SIGNAL ? SFRAME_PACKED_EXACT : 0);
}

static void encode_plain(const struct sfg_arch *arch,
			 const struct sfjit_row *row,
			 struct sframe_packed_rule *r)
{
	r->kind |= SFRAME_PACKED_PLAIN;
	if (row->cfa.reg == arch->fp)
		r->kind |= SFRAME_PACKED_FROM_FP;
	if (row->fp.base)
		r->kind |= SFRAME_PACKED_FP_SAVED;
	r->cfa = (row->flags & SFJIT_ROW_RBX) / SFJIT_ROW_RBX_KEPT;
}

static void encode_places(const struct sfjit_row *row, struct packed_rule *rule)
{
	struct sframe_packed_rule *r = &rule->r;

	r->kind |= SFRAME_PACKED_RULES;
	r->cfa = place_of(&row->cfa);
	r->ra = place_of(&row->ra);
	r->fp = place_of(&row->fp);
	if (row->cfa.addend)
		r->kind |= SFRAME_PACKED_HAS_ADDEND;
	rule->addend = row->cfa.addend;
}

/* Each row has one form. The return address of a call has its place in the rule. */
void sfg_encode_rule(const struct sfg_arch *arch, const struct sfjit_row *row,
		     uint8_t flags, struct packed_rule *rule)
{
	struct sfjit_row full = *row;

	memset(rule, 0, sizeof(*rule));
	if (row->flags & SFJIT_ROW_OUTERMOST) {
		rule->r.kind = SFRAME_PACKED_OUTERMOST;
		return;
	}
	if (row->flags & SFG_ROW_FP) {
		rule->r.kind = SFRAME_PACKED_FP;
		return;
	}
	if (!row->ra.base && arch->fixed_ra)
		full.ra = sfjit_rule_saved(arch->fixed_ra);
	rule->r.kind = flags_of(row, flags);
	rule->r.cfa_off = full.cfa.offset;
	rule->r.ra_off = full.ra.base ? full.ra.offset : 0;
	rule->r.fp_off = full.fp.base ? full.fp.offset : 0;
	if (sfg_row_is_plain(arch, &full))
		encode_plain(arch, &full, &rule->r);
	else
		encode_places(&full, rule);
}

int sfg_pack_row(unsigned int abi, const struct sfjit_row *row, uint8_t flags,
		 struct sframe_packed_rule rules[2])
{
	struct packed_rule rule = { .r.kind = SFRAME_PACKED_SIGNAL };
	const struct sfg_arch *arch = sfg_arch_by_abi(abi);

	if (!arch)
		return -ENOTSUP;
	if (row && row->flags != SFG_ROW_FP && !sfg_row_fits(arch, row))
		return -EINVAL;
	if (row)
		sfg_encode_rule(arch, row, flags, &rule);
	sfg_put_rule(arch, &rule, (uint8_t *)rules);
	return rule.addend ? 2 : 1;
}

/* Returns where the rule is among all rules, or an error. */
static int64_t add_rule(struct writer *w, const struct packed_rule *rule)
{
	uint64_t hash = sfg_hash_bytes((const uint8_t *)rule, sizeof(*rule));
	uint16_t *slot = NULL;
	unsigned int i;

	for (i = 0; i < MAX_PROBES; i++) {
		slot = &w->slots[(hash + i) % NR_SLOTS];
		if (!*slot)
			break;
		if (!memcmp(&w->rules[*slot - 1].rule, rule, sizeof(*rule)))
			return *slot - 1;
	}
	w->nr_ids += rule->addend ? 2 : 1;
	if (w->nr_ids >= MAX_IDS)
		return -E2BIG;
	if (!grow_array(&w->rules, &w->max_rules, w->nr_rules,
			sizeof(*w->rules)))
		return -ENOMEM;
	w->rules[w->nr_rules] = (struct dict_rule){
		.rule = *rule, .index = w->nr_rules,
	};
	*slot = ++w->nr_rules;
	return w->nr_rules - 1;
}

/* The rule holds from an address on, or the first instruction after it. */
static int add_change(struct writer *w, uint64_t addr, uint32_t rule)
{
	uint32_t mask = (1u << w->arch->unit_shift) - 1;
	uint32_t unit = (addr - w->base + mask) >> w->arch->unit_shift;
	struct change *c = w->changes;

	if (!w->limits.changes--)
		return -E2BIG;
	if (w->nr_changes && c[w->nr_changes - 1].unit == unit)
		w->nr_changes--;
	if (w->nr_changes ? c[w->nr_changes - 1].rule == rule : !rule)
		return 0;
	if (!grow_array(&w->changes, &w->max_changes, w->nr_changes,
			sizeof(*w->changes)))
		return -ENOMEM;
	w->changes[w->nr_changes++] = (struct change){ unit, rule };
	return 0;
}

static int add_rows(struct writer *w, const struct sfjit_function *fde,
		    uint64_t addr, uint64_t end)
{
	const struct sfjit_row *row = fde->rows;
	const struct sfjit_row *last = row + fde->nr_rows;
	struct packed_rule rule;
	int64_t index;
	int ret = 0;

	for (; row != last && addr + row->start < end && !ret; row++) {
		sfg_encode_rule(w->arch, row, fde->flags, &rule);
		index = add_rule(w, &rule);
		ret = index < 0 ? index : add_change(w, addr + row->start,
						     index);
	}
	return ret;
}

static int add_signal(struct writer *w, uint64_t addr)
{
	static const struct packed_rule rule = {
		.r.kind = SFRAME_PACKED_SIGNAL,
	};
	int64_t index = add_rule(w, &rule);

	return index < 0 ? index : add_change(w, addr, index);
}

/* 'size' is that of one block if all of the table repeats it. */
static int add_fde(struct writer *w, const struct sfjit_function *fde,
		   uint32_t size)
{
	uint64_t at = fde->addr, end = at + size;
	uint32_t step = fde->repeat && fde->nr_rows > 1 ? fde->repeat : size;
	int ret = 0;

	if (!fde->nr_rows)
		ret = add_signal(w, at);
	for (; fde->nr_rows && at < end && !ret; at += step)
		ret = add_rows(w, fde, at, end);
	return ret ? ret : add_change(w, end, 0);
}

/* The rules that are used most are first: their ids are short. */
static int compare_uses(const void *x, const void *y)
{
	const struct dict_rule *a = x, *b = y;

	if (a->uses != b->uses)
		return a->uses < b->uses ? 1 : -1;
	return (a->index > b->index) - (a->index < b->index);
}

static void number_rules(struct writer *w)
{
	uint32_t id = 0;
	size_t i;

	for (i = 0; i < w->nr_changes; i++)
		w->rules[w->changes[i].rule].uses++;
	/* rule 0 stays */
	qsort(w->rules + 1, w->nr_rules - 1, sizeof(*w->rules), compare_uses);
	for (i = 0; i < w->nr_rules; i++) {
		w->rules[w->rules[i].index].id = id;
		id += w->rules[i].rule.addend ? 2 : 1;
	}
}

uint8_t *sfg_put_rule(const struct sfg_arch *arch,
		      const struct packed_rule *rule, uint8_t *p)
{
	struct sframe_packed_rule r = rule->r;
	struct sframe_packed_rule next = { .kind = SFRAME_PACKED_ADDEND };
	bool swap = arch_swaps(arch);

	r.cfa_off = swap32(swap, r.cfa_off);
	r.ra_off = swap32(swap, r.ra_off);
	r.fp_off = swap32(swap, r.fp_off);
	memcpy(p, &r, RULE_SIZE);
	p += RULE_SIZE;
	if (!rule->addend)
		return p;
	next.cfa_off = swap32(swap, rule->addend);
	memcpy(p, &next, RULE_SIZE);
	return p + RULE_SIZE;
}

static void put_rules(const struct writer *w, uint8_t *p)
{
	size_t i;

	for (i = 0; i < w->nr_rules; i++)
		p = sfg_put_rule(w->arch, &w->rules[i].rule, p);
}

static uint32_t id_of(const struct writer *w, uint32_t rule)
{
	return w->rules[rule].id;
}

/* Writes the block of changes [c, end), before which 'rule' holds. */
static uint8_t *put_block(const struct writer *w, const struct change *c,
			  const struct change *end, uint32_t rule, bool wide,
			  uint8_t *p)
{
	size_t n = end - c, i;
	uint16_t id;

	*p++ = n;
	for (i = 0; i < n; i++)
		*p++ = c[i].unit % BUCKET_UNITS;
	for (i = 0; i <= n; i++) {
		id = id_of(w, i ? c[i - 1].rule : rule);
		if (!wide) {
			*p++ = id;
			continue;
		}
		id = swap16(w->swap, id);
		memcpy(p, &id, 2);
		p += 2;
	}
	return p;
}

static bool needs_wide(const struct writer *w, const struct change *c,
		       const struct change *end, uint32_t rule)
{
	bool wide = id_of(w, rule) > UINT8_MAX;

	for (; c != end; c++)
		wide |= id_of(w, c->rule) > UINT8_MAX;
	return wide;
}

/*
 * Where the block [p, end) is, or an equal one that was written before it, as in
 * linkage tables and small functions of C++.
 */
static uint8_t *find_rule_block(const struct writer *w, uint8_t *blocks,
				uint8_t *p, const uint8_t *end)
{
	uint64_t hash = sfg_hash_bytes(p, end - p);
	uint32_t len = end - p;
	struct block_slot *slot;
	unsigned int i;

	for (i = 0; i < MAX_PROBES; i++) {
		slot = &w->block_slots[(hash + i) % NR_SLOTS];
		if (!slot->len)
			break;
		if (slot->len == len && !memcmp(blocks + slot->off, p, len))
			return blocks + slot->off;
	}
	*slot = (struct block_slot){ p - blocks, len };
	return p;
}

/* Returns the bytes of all blocks. */
static uint32_t put_buckets(const struct writer *w, uint8_t *index,
			   uint32_t nr_buckets, uint8_t *blocks)
{
	const struct change *c = w->changes, *next;
	const struct change *last = c ? c + w->nr_changes : c;
	uint32_t bucket, entry, rule = 0;
	uint8_t *p = blocks, *end, *block;
	bool wide;

	for (bucket = 0; bucket < nr_buckets; bucket++, index += 4) {
		if (c != last && c->unit == bucket * BUCKET_UNITS)
			rule = (c++)->rule;
		next = c;
		while (next != last && next->unit / BUCKET_UNITS == bucket)
			next++;
		entry = id_of(w, rule);
		if (next != c) {
			wide = needs_wide(w, c, next, rule);
			end = put_block(w, c, next, rule, wide, p);
			block = find_rule_block(w, blocks, p, end);
			entry = SFRAME_PACKED_BLOCK | (block - blocks) |
				(wide ? SFRAME_PACKED_WIDE : 0);
			p = block == p ? end : p;
			rule = next[-1].rule;
		}
		entry = swap32(w->swap, entry);
		memcpy(index, &entry, 4);
		c = next;
	}
	return p - blocks;
}

static struct sframe_packed_header empty_header(const struct sfg_arch *arch)
{
	return (struct sframe_packed_header){
		.magic = swap16(arch_swaps(arch), SFRAME_PACKED_MAGIC),
		.version = SFRAME_PACKED_VERSION,
		.abi_arch = arch->trial_abi ? : arch->abi,
		.unit_shift = arch->unit_shift,
	};
}

int sfg_init_packed(unsigned int abi, struct sframe_packed_header *header)
{
	const struct sfg_arch *arch = sfg_arch_by_abi(abi);

	if (!arch)
		return -ENOTSUP;
	*header = empty_header(arch);
	return 0;
}

static void put_header(const struct writer *w, uint8_t *p, uint64_t length,
		       unsigned int repeat, uint32_t blocks_len)
{
	struct sframe_packed_header h = empty_header(w->arch);

	h.repeat = repeat;
	h.nr_rules = swap16(w->swap, w->nr_ids);
	h.text_start = swap64(w->swap, w->base);
	h.text_length = swap32(w->swap, length);
	h.blocks_len = swap32(w->swap, blocks_len);
	memcpy(p, &h, HEADER_SIZE);
}

static uint32_t buckets_of(const struct writer *w, uint64_t length)
{
	unsigned int shift = SFRAME_PACKED_BUCKET_SHIFT + w->arch->unit_shift;

	return (length + (1u << shift) - 1) >> shift;
}

/* A block has a byte for its length, and up to three for each change and id. */
static int put_table(struct writer *w, uint64_t length, unsigned int repeat,
		     struct sfg_output *out)
{
	uint32_t nr = buckets_of(w, repeat ? repeat : length);
	size_t index = HEADER_SIZE + w->nr_ids * RULE_SIZE;
	size_t blocks = index + 4 * (size_t)nr;
	uint64_t most = 3 * ((uint64_t)nr + w->nr_changes);
	uint8_t *buf, *smaller;
	uint32_t len;

	if (most > MAX_BLOCKS)
		return -E2BIG;
	buf = malloc(blocks + most + SFRAME_PACKED_PAD);
	if (!buf)
		return -ENOMEM;
	number_rules(w);
	put_rules(w, buf + HEADER_SIZE);
	len = put_buckets(w, buf + index, nr, buf + blocks);
	put_header(w, buf, length, repeat, len);
	memset(buf + blocks + len, 0, SFRAME_PACKED_PAD);
	out->len = blocks + len + SFRAME_PACKED_PAD;
	smaller = realloc(buf, out->len);
	out->data = smaller ? smaller : buf;
	return 0;
}

static const char *check_row(const struct sfg_arch *arch,
			     const struct sfjit_row *row, uint32_t index)
{
	if (index && row->start <= row[-1].start)
		return "row starts do not increase";
	if (row->flags == SFG_ROW_FP || sfg_row_fits(arch, row))
		return NULL;
	return "row is not expressible";
}

static const char *check_fde(const struct sfg_arch *arch,
			     const struct sfjit_function *fde, uint64_t end)
{
	const char *reason = sfg_check_range(fde, end);
	uint32_t i;

	for (i = 0; i < fde->nr_rows && !reason; i++)
		reason = check_row(arch, &fde->rows[i], i);
	return reason;
}

int sfg_check_packed_input(const struct sfg_arch *arch,
			   const struct sfjit_function *fdes, size_t nr,
			   struct packed_limits *limits, struct sfg_error *err)
{
	uint64_t end = 0, rows = nr;
	const char *reason;
	size_t i;

	for (i = 0; i < nr; i++) {
		reason = check_fde(arch, &fdes[i], end);
		if (reason)
			return sfg_fail(err, i, reason, -EINVAL);
		end = fdes[i].addr + fdes[i].size;
		rows += fdes[i].nr_rows;
	}
	limits->buckets = FOR_ANY_INPUT + BUCKETS_PER_ROW * rows;
	limits->changes = FOR_ANY_INPUT + REPEATS_PER_ROW * rows;
	return 0;
}

int sfg_end_packed(int ret, struct sfg_error *err)
{
	if (ret)
		return sfg_fail(err, 0, ret == -E2BIG ?
				"code is too long or too sparse, or has too many rules" :
				"out of memory", ret);
	return 0;
}

bool sfg_packed_repeats(const struct sfg_arch *arch,
			const struct sfjit_function *fdes, size_t nr)
{
	uint32_t unit = 1u << arch->unit_shift;

	return nr == 1 && (fdes->addr | fdes->repeat) % unit == 0 &&
	       fdes->repeat && fdes->repeat < fdes->size;
}

/* The table starts at a multiple of a bucket, but if it repeats. */
static int pack_fdes(struct writer *w, const struct sfjit_function *fdes,
		     size_t nr, struct sfg_output *out)
{
	uint32_t bucket = BUCKET_UNITS << w->arch->unit_shift;
	unsigned int repeat = 0;
	uint64_t length = 0;
	int ret = 0;
	size_t i;

	if (nr) {
		w->base = fdes[0].addr & -(uint64_t)bucket;
		if (sfg_packed_repeats(w->arch, fdes, nr)) {
			repeat = fdes[0].repeat;
			w->base = fdes[0].addr;
		}
		length = fdes[nr - 1].addr + fdes[nr - 1].size - w->base;
	}
	if (length > UINT32_MAX ||
	    (!repeat && buckets_of(w, length) > w->limits.buckets))
		return -E2BIG;
	for (i = 0; i < nr && !ret; i++)
		ret = add_fde(w, &fdes[i], repeat ? repeat : fdes[i].size);
	return ret ? ret : put_table(w, length, repeat, out);
}

int sfg_write_packed(unsigned int abi, const struct sfjit_function *fdes,
		     size_t nr_fdes, struct sfg_output *out,
		     struct sfg_error *err)
{
	static const struct packed_rule unknown;
	struct writer w = { .arch = sfg_arch_by_abi(abi) };
	int ret;

	if (!w.arch)
		return sfg_fail(err, 0, "no SFrame ABI of this number",
				-ENOTSUP);
	ret = sfg_check_packed_input(w.arch, fdes, nr_fdes, &w.limits, err);
	if (ret)
		return ret;
	w.swap = arch_swaps(w.arch);
	/* Not on the stack, which may be that of any thread of a program. */
	w.slots = calloc(NR_SLOTS, sizeof(*w.slots));
	w.block_slots = calloc(NR_SLOTS, sizeof(*w.block_slots));
	ret = w.slots && w.block_slots ? add_rule(&w, &unknown) : -ENOMEM;
	if (ret >= 0)
		ret = pack_fdes(&w, fdes, nr_fdes, out);
	free(w.block_slots);
	free(w.slots);
	free(w.changes);
	free(w.rules);
	return sfg_end_packed(ret, err);
}
