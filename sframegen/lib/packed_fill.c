// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Writes packed tables to memory of the caller, or measures them. Changes of rules
 * are made one after the other, and of a bucket all before it is written: so
 * nothing is allocated.
 */
#include "core.h"

#define HEADER_SIZE	sizeof(struct sframe_packed_header)
#define RULE_SIZE	sizeof(struct sframe_packed_rule)
#define BUCKET_UNITS	(1u << SFRAME_PACKED_BUCKET_SHIFT)
#define MAX_IDS		UINT16_MAX
#define MAX_BLOCKS	(1u << 30)

/* Rules are found by their hash. Those that are not are stored twice. */
#define NR_SLOTS	256
#define MAX_PROBES	8

struct known_rule {
	const struct sfjit_row *row;	/* NULL: a free slot */
	uint16_t id;
	uint8_t flags;			/* of its function */
};

struct bucket {
	uint32_t n;				/* changes */
	uint8_t change[BUCKET_UNITS - 1];
	uint16_t id[BUCKET_UNITS];		/* before and after each */
};

struct filler {
	const struct sfg_arch *arch;
	uint8_t *table;			/* NULL: only measure */
	size_t index_off, blocks_off;
	uint64_t base, length;
	uint32_t nr_buckets;
	uint8_t repeat;
	struct packed_limits limits;
	/* The rest begins with zeros, for the measure and for the table. */
	int error;
	uint32_t nr_ids;		/* rules and addends */
	uint32_t blocks_len;
	uint32_t nr_done;		/* buckets */
	/* The change that was made last; the next one may be at the same unit. */
	bool is_pending;
	uint32_t unit;
	uint16_t id;
	uint16_t rule;			/* holds up to it */
	struct bucket now, before;
	uint32_t entry_before;		/* of the last block, or 0 */
	struct known_rule known[NR_SLOTS];
};

static const struct sfjit_row signal_row = { .cfa = SFJIT_NO_RULE };

static void encode_row(const struct filler *f, const struct sfjit_row *row,
		       uint8_t flags, struct packed_rule *rule)
{
	if (row != &signal_row) {
		sfg_encode_rule(f->arch, row, flags, rule);
		return;
	}
	*rule = (struct packed_rule){ .r.kind = SFRAME_PACKED_SIGNAL };
}

/* A measurement needs no rules, and comes before each write. */
static uint16_t add_rule(struct filler *f, const struct sfjit_row *row,
			 uint8_t flags)
{
	uint32_t id = f->nr_ids;
	struct packed_rule rule;

	encode_row(f, row, flags, &rule);
	f->nr_ids += rule.addend ? 2 : 1;
	if (f->nr_ids > MAX_IDS)
		f->error = -E2BIG;
	else if (f->table)
		sfg_put_rule(f->arch, &rule, f->table + HEADER_SIZE +
			     id * RULE_SIZE);
	return id;
}

static uint16_t id_of_row(struct filler *f, const struct sfjit_row *row,
			  uint8_t flags)
{
	uint64_t hash = sfg_hash_bytes((const uint8_t *)&row->flags,
				       sizeof(*row) -
				       offsetof(struct sfjit_row, flags));
	struct known_rule *slot;
	uint16_t id;
	unsigned int i;

	for (i = 0; i < MAX_PROBES; i++) {
		slot = &f->known[(hash + i) % NR_SLOTS];
		if (!slot->row)
			break;
		if (slot->flags == flags && sfg_rows_equal(slot->row, row))
			return slot->id;
	}
	id = add_rule(f, row, flags);
	if (i < MAX_PROBES)
		*slot = (struct known_rule){ row, id, flags };
	return id;
}

static bool is_wide(const struct bucket *b)
{
	uint32_t i;

	for (i = 0; i <= b->n; i++)
		if (b->id[i] > UINT8_MAX)
			return true;
	return false;
}

static void write_block(const struct filler *f, uint8_t *p, bool wide)
{
	const struct bucket *b = &f->now;
	uint32_t i;
	uint16_t id;

	*p++ = b->n;
	memcpy(p, b->change, b->n);
	p += b->n;
	for (i = 0; i <= b->n; i++) {
		id = swap16(arch_swaps(f->arch), b->id[i]);
		if (wide)
			memcpy(p + 2 * (size_t)i, &id, 2);
		else
			p[i] = b->id[i];
	}
}

static bool is_block_before(const struct filler *f)
{
	const struct bucket *a = &f->now, *b = &f->before;

	return f->entry_before && a->n == b->n &&
	       !memcmp(a->change, b->change, a->n) &&
	       !memcmp(a->id, b->id, (a->n + 1) * sizeof(a->id[0]));
}

/* Neighbours are equal where functions repeat. */
static uint32_t put_block(struct filler *f)
{
	bool wide;

	if (is_block_before(f))
		return f->entry_before;
	wide = is_wide(&f->now);
	if (f->table)
		write_block(f, f->table + f->blocks_off + f->blocks_len, wide);
	f->entry_before = SFRAME_PACKED_BLOCK | f->blocks_len |
			  (wide ? SFRAME_PACKED_WIDE : 0);
	f->before = f->now;
	f->blocks_len += 1 + f->now.n + ((f->now.n + 1) << wide);
	if (f->blocks_len > MAX_BLOCKS)
		f->error = -E2BIG;
	return f->entry_before;
}

static void end_bucket(struct filler *f)
{
	struct bucket *b = &f->now;
	uint32_t entry = b->n ? put_block(f) : b->id[0];

	if (f->table) {
		entry = swap32(arch_swaps(f->arch), entry);
		memcpy(f->table + f->index_off + 4 * (size_t)f->nr_done, &entry,
		       4);
	}
	f->nr_done++;
	b->id[0] = b->id[b->n];
	b->n = 0;
}

/* The rule that is pending holds from its unit on. */
static void make_change(struct filler *f)
{
	struct bucket *b = &f->now;

	if (!f->is_pending || f->id == f->rule)
		return;
	f->rule = f->id;
	while (f->nr_done < f->unit / BUCKET_UNITS && !f->error)
		end_bucket(f);
	if (f->unit % BUCKET_UNITS)
		b->change[b->n++] = f->unit % BUCKET_UNITS;
	b->id[b->n] = f->rule;
}

/* The rule holds from an address on, or the first instruction after it. */
static void add_change(struct filler *f, uint64_t addr, uint16_t id)
{
	uint32_t mask = (1u << f->arch->unit_shift) - 1;
	uint32_t unit = (addr - f->base + mask) >> f->arch->unit_shift;

	if (!f->limits.changes--)
		f->error = -E2BIG;
	if (f->error)
		return;
	if (unit != f->unit)
		make_change(f);
	f->is_pending = true;
	f->unit = unit;
	f->id = id;
}

static void add_rows(struct filler *f, const struct sfjit_function *fde,
		     uint64_t addr, uint64_t end)
{
	const struct sfjit_row *row = fde->rows;
	const struct sfjit_row *last = row + fde->nr_rows;

	for (; row != last && addr + row->start < end && !f->error; row++)
		add_change(f, addr + row->start,
			   id_of_row(f, row, fde->flags));
}

/* 'size' is that of one block if all of the table repeats it. */
static void add_fde(struct filler *f, const struct sfjit_function *fde,
		    uint32_t size)
{
	uint32_t step = fde->repeat && fde->nr_rows > 1 ? fde->repeat : size;
	uint64_t at = fde->addr, end = at + size;

	if (!fde->nr_rows)
		add_change(f, at, id_of_row(f, &signal_row, 0));
	for (; fde->nr_rows && at < end && !f->error; at += step)
		add_rows(f, fde, at, end);
	add_change(f, end, 0);
}

/* The last change is at the end of the text, which the header has. */
static void add_fdes(struct filler *f, const struct sfjit_function *fdes,
		     size_t nr)
{
	size_t i;

	f->nr_ids = 1;
	for (i = 0; i < nr && !f->error; i++)
		add_fde(f, &fdes[i], f->repeat ? f->repeat : fdes[i].size);
	while (f->nr_done < f->nr_buckets && !f->error)
		end_bucket(f);
}

static size_t size_of(const struct filler *f)
{
	return f->blocks_off + f->blocks_len + SFRAME_PACKED_PAD;
}

static int open_filler(struct filler *f, const struct sfjit_function *fdes,
		       size_t nr)
{
	unsigned int shift = SFRAME_PACKED_BUCKET_SHIFT + f->arch->unit_shift;
	uint64_t length;

	if (!nr)
		return 0;
	f->base = fdes[0].addr & -(UINT64_C(1) << f->arch->unit_shift);
	f->length = fdes[nr - 1].addr + fdes[nr - 1].size - f->base;
	if (f->length > UINT32_MAX)
		return -E2BIG;
	if (sfg_packed_repeats(f->arch, fdes, nr))
		f->repeat = fdes[0].repeat;
	length = f->repeat ? f->repeat : f->length;
	f->nr_buckets = (length + (UINT64_C(1) << shift) - 1) >> shift;
	return f->nr_buckets > f->limits.buckets ? -E2BIG : 0;
}

static int measure(struct filler *f, unsigned int abi,
		   const struct sfjit_function *fdes, size_t nr,
		   struct sfg_error *err)
{
	int ret;

	memset(f, 0, sizeof(*f));
	f->arch = sfg_arch_by_abi(abi);
	if (!f->arch)
		return sfg_fail(err, 0, "no SFrame ABI of this number",
				-ENOTSUP);
	ret = sfg_check_packed_input(f->arch, fdes, nr, &f->limits, err);
	if (ret)
		return ret;
	f->error = open_filler(f, fdes, nr);
	if (!f->error)
		add_fdes(f, fdes, nr);
	f->index_off = HEADER_SIZE + f->nr_ids * RULE_SIZE;
	f->blocks_off = f->index_off + 4 * (size_t)f->nr_buckets;
	return sfg_end_packed(f->error, err);
}

int sfg_packed_size(unsigned int abi, const struct sfjit_function *fdes,
		    size_t nr_fdes, size_t *size, struct sfg_error *err)
{
	struct filler f;
	int ret = measure(&f, abi, fdes, nr_fdes, err);

	if (!ret)
		*size = size_of(&f);
	return ret;
}

static void put_header(const struct filler *f)
{
	bool swap = arch_swaps(f->arch);
	const struct sframe_packed_header h = {
		.magic = swap16(swap, SFRAME_PACKED_MAGIC),
		.version = SFRAME_PACKED_VERSION,
		.abi_arch = f->arch->trial_abi ? : f->arch->abi,
		.unit_shift = f->arch->unit_shift,
		.repeat = f->repeat,
		.nr_rules = swap16(swap, f->nr_ids),
		.text_start = swap64(swap, f->base),
		.text_length = swap32(swap, f->length),
		.blocks_len = swap32(swap, f->blocks_len),
	};

	memcpy(f->table, &h, HEADER_SIZE);
	memset(f->table + HEADER_SIZE, 0, RULE_SIZE);
	memset(f->table + f->blocks_off + f->blocks_len, 0, SFRAME_PACKED_PAD);
}

/* The same changes once more, this time to the table. */
static void fill_table(struct filler *f, const struct sfjit_function *fdes,
		       size_t nr, uint8_t *table)
{
	const size_t rest = offsetof(struct filler, error);

	memset((uint8_t *)f + rest, 0, sizeof(*f) - rest);
	f->limits.changes = UINT64_MAX;
	f->table = table;
	add_fdes(f, fdes, nr);
	put_header(f);
}

int sfg_fill_packed(unsigned int abi, const struct sfjit_function *fdes,
		    size_t nr_fdes, void *buf, size_t len, size_t *used,
		    struct sfg_error *err)
{
	struct filler f;
	int ret = measure(&f, abi, fdes, nr_fdes, err);

	if (ret)
		return ret;
	if (len < size_of(&f))
		return sfg_fail(err, 0, "buffer is too small", -ENOSPC);
	fill_table(&f, fdes, nr_fdes, buf);
	*used = size_of(&f);
	return 0;
}
