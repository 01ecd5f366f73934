// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* SFrame V3 and a step through it, read plainly. */
#include "model.h"

/* Limits of the kernel's, as documented: not of the format. */
#define MAX_SIGNALS	8
#define MAX_SWITCHES	8
#define DEAD_STACK	4096
#define MAX_INDEX	(1 << 24)
#define LOWEST_CODE	mmap_min_addr
#define MAX_FAULTS	64

static bool may_be_code(unsigned long ip)
{
	return ip >= LOWEST_CODE && ip < TASK_SIZE;
}

static s32 signed_number(u64 value, unsigned int size)
{
	u64 sign = 1ULL << (8 * size - 1);

	return (value ^ sign) - sign;
}

/* Registration. */

struct opts {
	u32 size, flags;
	u64 text_start, text_length;
	u32 format;
	u64 bias;
};

/* Their size so far. */
#define OPTS_KNOWN	40

static int read_opts(struct opts *opts, unsigned long addr)
{
	u8 bytes[PAGE_SIZE];
	u32 size;
	unsigned int i;

	memset(opts, 0, sizeof(*opts));
	if (!addr)
		return 0;
	if (model_take_loads(addr, 4, &size))
		return -EFAULT;
	if (size < OPTS_KNOWN)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size > OPTS_KNOWN &&
	    model_take_loads(addr + OPTS_KNOWN, size - OPTS_KNOWN, bytes))
		return -EFAULT;
	for (i = OPTS_KNOWN; i < size; i++)
		if (bytes[i - OPTS_KNOWN])
			return -E2BIG;
	if (model_take_loads(addr, OPTS_KNOWN, bytes))
		return -EFAULT;
	opts->flags = get_number(bytes + 4, 4);
	opts->text_start = get_number(bytes + 8, 8);
	opts->text_length = get_number(bytes + 16, 8);
	opts->format = get_number(bytes + 24, 4);
	opts->bias = get_number(bytes + 32, 8);
	if (opts->flags > 1 || get_number(bytes + 28, 4) ||
	    (opts->format != SFRAME_FORMAT_V3 &&
	     opts->format != SFRAME_FORMAT_PACKED))
		return -EINVAL;
	return 0;
}

/* Bytes 2 to 7: version 3, flags, ABI, no FP, where RA is, no more. */
static const u8 only_start[6] = {
	3, 5, MACHINE_ABI, 0, (u8)MACHINE_RA, 0,
};

static int read_header(struct ref_window *ref, const u8 *h)
{
	u64 fdes = 28 + get_number(h + 20, 4);
	u64 fres = 28 + get_number(h + 24, 4);
	u64 nr = get_number(h + 8, 4), fres_end = fres + get_number(h + 16, 4);
	u64 space = fres < fdes ? 0 : (fres - fdes) / 16;

	if (get_number(h, 2) != 0xdee2 ||
	    memcmp(h + 2, only_start, sizeof(only_start)))
		return -EINVAL;
	if (fdes > fres || nr > space || fres > ref->length ||
	    fres_end > ref->length || nr > MAX_INDEX)
		return -EINVAL;
	ref->fdes = fdes;
	ref->fres = fres;
	ref->fres_end = fres_end;
	ref->num_fdes = nr;
	return 0;
}

static int read_section(struct ref_window *ref)
{
	u8 header[28];

	if (ref->length < 28 || ref->length > U32_MAX ||
	    ref->addr > TASK_SIZE || ref->length > TASK_SIZE - ref->addr)
		return -EINVAL;
	if (model_take_loads(ref->addr, sizeof(header), header))
		return -EFAULT;
	return read_header(ref, header);
}

static int read_index_entry(const struct ref_window *ref, u32 nr, u64 *start,
			    u32 *size)
{
	unsigned long addr = ref->addr + ref->fdes + 16 * (u64)nr;
	u8 fde[16];

	if (model_take_loads(addr, sizeof(fde), fde))
		return -EFAULT;
	*start = addr + get_number(fde, 8) + ref->bias;
	*size = get_number(fde + 8, 4);
	return 0;
}

static int range_of_index(struct ref_window *ref)
{
	u64 last;
	u32 size;

	if (!ref->num_fdes)
		return -EINVAL;
	if (read_index_entry(ref, 0, (u64 *)&ref->text_start, &size) ||
	    read_index_entry(ref, ref->num_fdes - 1, &last, &size))
		return -EFAULT;
	ref->text_end = last + size;
	return ref->text_end < last ? -EINVAL : 0;
}

static int read_range(struct ref_window *ref, const struct opts *opts)
{
	int ret = 0;

	ref->text_start = opts->text_start;
	ref->text_end = opts->text_start + opts->text_length;
	if (ref->text_end < ref->text_start)
		return -EINVAL;
	if (!opts->text_start && !opts->text_length)
		ret = range_of_index(ref);
	if (ret)
		return ret;
	if (ref->text_start >= ref->text_end || ref->text_end > TASK_SIZE)
		return -EINVAL;
	return 0;
}

/* The magic, version 1, and what this machine has. */
static bool packed_start(const u8 *h)
{
	return get_number(h, 2) == 0x5053 && h[2] == 1 && h[3] == MACHINE_ABI &&
	       h[4] == MACHINE_UNIT_SHIFT;
}

static int read_packed(struct ref_window *ref, struct opts *opts)
{
	const unsigned int unit = 1 << MACHINE_UNIT_SHIFT;
	u64 rules, length, buckets, blocks;
	u8 h[32];

	if (ref->addr % 16)
		return -EINVAL;
	if (ref->length < sizeof(h) || ref->length > U32_MAX ||
	    ref->addr > TASK_SIZE || ref->length > TASK_SIZE - ref->addr)
		return -EINVAL;
	if (model_take_loads(ref->addr, sizeof(h), h))
		return -EFAULT;
	rules = get_number(h + 6, 2);
	length = get_number(h + 16, 4);
	blocks = get_number(h + 20, 4);
	ref->repeat = h[5];
	if (!packed_start(h) || ref->repeat % unit ||
	    get_number(h + 8, 8) % unit || !rules)
		return -EINVAL;
	buckets = ref->repeat && ref->repeat < length ? ref->repeat : length;
	buckets = (buckets + 256 * unit - 1) / (256 * unit);
	/* Where the parts begin, as those of a section. */
	ref->fdes = 32 + 16 * rules;
	ref->fres = ref->fdes + 4 * buckets;
	ref->fres_end = ref->fres + blocks;
	if (ref->fres_end + 8 > ref->length)
		return -EINVAL;
	ref->first = get_number(h + 8, 8) + ref->bias;
	ref->code = length;
	if (!opts->text_start && !opts->text_length) {
		opts->text_start = ref->first;
		opts->text_length = length;
		if (!ref->first && !length)
			return -EINVAL;
	}
	return read_range(ref, opts);
}

static int read_window(struct ref_window *ref, struct opts *opts)
{
	int ret;

	if (ref->format == SFRAME_FORMAT_PACKED)
		return read_packed(ref, opts);
	ret = read_section(ref);
	return ret ? ret : read_range(ref, opts);
}

int ref_register(struct ref_window *ref, unsigned long addr,
		 unsigned long len, unsigned long opts_addr)
{
	struct opts opts;
	int ret;

	if (shim_compat)
		return -EOPNOTSUPP;
	ret = read_opts(&opts, opts_addr);
	if (ret)
		return ret;
	memset(ref, 0, sizeof(*ref));
	ref->addr = addr;
	ref->length = len;
	ref->format = opts.format;
	ref->bias = opts.bias;
	ret = read_window(ref, &opts);
	return ret ? ret : model.no_memory ? -ENOMEM : 0;
}

/* Rules of a frame. */

static bool same_rule(const struct ref_rule *a, const struct ref_rule *b)
{
	return a->base == b->base && a->reg == b->reg && a->off == b->off &&
	       a->load == b->load;
}

bool ref_same_frame(const struct ref_frame *a, const struct ref_frame *b)
{
	if (a->outermost != b->outermost || a->signal != b->signal ||
	    a->flex != b->flex || a->exact != b->exact)
		return false;
	return a->outermost || a->signal ||
	       (same_rule(&a->cfa, &b->cfa) && same_rule(&a->ra, &b->ra) &&
		same_rule(&a->fp, &b->fp) && a->addend == b->addend &&
		a->third == b->third);
}

/* An offset in the section, and the number of the read. */
struct place {
	const struct ref_window *ref;
	u64 pos;
	u32 read;
};

static enum sframe_reason take(struct place *place, unsigned int size,
			       u8 *bytes)
{
	while (size--)
		if (model_section_byte(place->ref, place->pos++, place->read,
				       bytes++))
			return SFRAME_REASON_SECTION_FAULT;
	return SFRAME_REASON_NONE;
}

static enum sframe_reason take_number(struct place *place, unsigned int size,
				      u64 *value)
{
	enum sframe_reason reason;
	u8 bytes[8];

	reason = take(place, size, bytes);
	*value = reason ? 0 : get_number(bytes, size);
	return reason;
}

static bool is_left(const struct place *place, u64 size)
{
	return place->pos + size <= place->ref->fres_end;
}

struct ref_func {
	u64 start;
	u32 size, block;
	bool signal;
};

struct bounds {
	u64 below, above;
	u32 first, behind;
};

/*
 * Halving, with the middle rounded down: which entries an unsorted index
 * shows is decided by it.
 */
static enum sframe_reason find_entry(struct place *place, u64 ip,
				     struct ref_func *func, u64 *entry)
{
	struct bounds in = { .above = ~0ULL, .behind = place->ref->num_fdes };
	enum sframe_reason reason = SFRAME_REASON_NONE;
	u64 at, off;
	u32 mid;

	for (*entry = 0; !reason && in.first < in.behind; ) {
		mid = (u32)(((u64)in.first + in.behind) / 2);
		at = place->ref->fdes + 16 * (u64)mid;
		place->pos = at;
		reason = take_number(place, 8, &off);
		if (reason)
			break;
		off += place->ref->addr + at + place->ref->bias;
		if (off < in.below || off > in.above)
			return SFRAME_REASON_FDE_ORDER;
		if (off > ip) {
			in.above = off;
			in.behind = mid;
			continue;
		}
		in.below = off;
		in.first = mid + 1;
		func->start = off;
		*entry = at;
	}
	if (reason)
		return reason;
	return *entry ? SFRAME_REASON_NONE : SFRAME_REASON_NO_FDE;
}

static enum sframe_reason find_function(struct place *place, u64 ip,
					struct ref_func *func, u64 *rows)
{
	const struct ref_window *ref = place->ref;
	enum sframe_reason reason;
	u64 entry, size, end;

	reason = find_entry(place, ip, func, &entry);
	if (reason)
		return reason;
	place->pos = entry + 8;
	if (take_number(place, 4, &size) || take_number(place, 4, rows))
		return SFRAME_REASON_SECTION_FAULT;
	func->size = size;
	end = func->start + func->size;
	if (ip - func->start >= func->size)
		return SFRAME_REASON_NO_FDE;
	if (end < func->start || func->start < ref->text_start ||
	    end > ref->text_end)
		return SFRAME_REASON_FDE_RANGE;
	return SFRAME_REASON_NONE;
}

struct attributes {
	unsigned int nr_rows, start_size;
	bool flex;
};

static enum sframe_reason take_attributes(struct place *place,
					  struct attributes *attr,
					  struct ref_func *func)
{
	u8 bytes[4], block;

	if (!is_left(place, 5))
		return SFRAME_REASON_FRE_OFFSET;
	if (take(place, sizeof(bytes), bytes))
		return SFRAME_REASON_SECTION_FAULT;
	/* The key of signatures is no other meaning where there are some. */
	if (bytes[2] & (MACHINE_SIGNS ? 0x40 : 0x60) || bytes[3] > 1 || (bytes[2] & 15) > 2)
		return SFRAME_REASON_FDE_TYPE;
	attr->nr_rows = get_number(bytes, 2);
	attr->start_size = 1 << (bytes[2] & 15);
	attr->flex = bytes[3];
	func->signal = bytes[2] & 0x80;
	if (!(bytes[2] & 0x10)) {
		place->pos++;
		return SFRAME_REASON_NONE;
	}
	if (take(place, 1, &block))
		return SFRAME_REASON_SECTION_FAULT;
	func->block = block;
	return block ? SFRAME_REASON_NONE : SFRAME_REASON_REP_SIZE;
}

/* A row's words begin at a place. */
struct row {
	unsigned int nr, size;
	u8 info;
	struct place words;
};

static enum sframe_reason find_row(struct place *place,
				   const struct attributes *attr, u64 off,
				   struct ref_func *func, struct row *row)
{
	u64 start, last = 0;
	unsigned int i;
	u8 info;

	for (i = 0; i < attr->nr_rows; i++, last = start) {
		if (!is_left(place, attr->start_size + 1))
			return SFRAME_REASON_FRE_OFFSET;
		if (take_number(place, attr->start_size, &start))
			return SFRAME_REASON_SECTION_FAULT;
		/* Two bytes are read at once. */
		if (attr->start_size == 1 && take(place, 1, &info))
			return SFRAME_REASON_SECTION_FAULT;
		if (i && start <= last)
			return SFRAME_REASON_ROW_ORDER;
		if (start > off)
			break;
		if (attr->start_size > 1 && take(place, 1, &info))
			return SFRAME_REASON_SECTION_FAULT;
		row->info = info;
		row->nr = row->info >> 1 & 15;
		row->size = 1 << (row->info >> 5 & 3);
		if (row->nr > 7 || row->size > 4)
			return SFRAME_REASON_ROW_WORDS;
		if (!is_left(place, row->nr * row->size))
			return SFRAME_REASON_FRE_OFFSET;
		row->words = *place;
		place->pos += row->nr * row->size;
	}
	return i ? SFRAME_REASON_NONE : SFRAME_REASON_NO_ROW;
}

static enum sframe_reason word(struct row *row, u32 *value)
{
	enum sframe_reason reason;
	u64 wide;

	reason = take_number(&row->words, row->size, &wide);
	*value = wide;
	return reason;
}

static enum sframe_reason offset(struct row *row, s32 *value)
{
	enum sframe_reason reason;
	u32 plain;

	reason = word(row, &plain);
	*value = signed_number(plain, row->size);
	return reason;
}

static struct ref_rule saved_at(s32 off)
{
	return (struct ref_rule) { .base = REF_CFA, .off = off, .load = true };
}

/* By its unit, and with what is left out of the offset of a CFA. */
static enum sframe_reason scale_cfa(s32 *off)
{
	s64 wide = (s64)*off * MACHINE_SCALE + MACHINE_SAVED;

	*off = wide;
	return wide < -(1LL << 31) || wide >= 1LL << 31 ?
	       SFRAME_REASON_ROW_RULE : SFRAME_REASON_NONE;
}

static enum sframe_reason cfa_offset(struct row *row, s32 *value)
{
	if (offset(row, value))
		return SFRAME_REASON_SECTION_FAULT;
	return scale_cfa(value);
}

/* The second word; without it, or if it is 0, the link register has it. */
static enum sframe_reason default_ra(struct row *row, struct ref_frame *frame)
{
	s32 off = 0;

	if (row->nr > 1 && offset(row, &off))
		return SFRAME_REASON_SECTION_FAULT;
	if (off) {
		frame->ra = saved_at(off);
		return SFRAME_REASON_NONE;
	}
	frame->flex = true;
	return row->nr == 2 ? SFRAME_REASON_ROW_WORDS : SFRAME_REASON_NONE;
}

static enum sframe_reason default_frame(struct row *row,
					struct ref_frame *frame)
{
	const unsigned int fp_words = MACHINE_RA ? 2 : 3;
	enum sframe_reason reason;
	s32 off;

	if (row->nr > fp_words)
		return SFRAME_REASON_ROW_WORDS;
	frame->cfa.base = row->info & 1 ? REF_SP : REF_FP;
	reason = cfa_offset(row, &frame->cfa.off);
	if (!reason && !MACHINE_RA)
		reason = default_ra(row, frame);
	if (reason || row->nr < fp_words)
		return reason;
	if (offset(row, &off))
		return SFRAME_REASON_SECTION_FAULT;
	frame->fp = saved_at(off);
	return SFRAME_REASON_NONE;
}

static void name_register(struct ref_rule *rule, u32 reg)
{
	rule->base = reg == MACHINE_SP ? REF_SP : reg == MACHINE_FP ? REF_FP :
		     reg == MACHINE_LR ? REF_LR : REF_OTHER;
	rule->reg = rule->base == REF_OTHER ? reg : 0;
}

/* Bit 2 of the control word is reserved. */
static enum sframe_reason pair(struct row *row, struct ref_rule *rule)
{
	u32 control, reg;

	if (word(row, &control) || offset(row, &rule->off))
		return SFRAME_REASON_SECTION_FAULT;
	reg = control >> 3;
	rule->reg = 0;
	rule->load = control & 2;
	rule->base = REF_CFA;
	if (control & 1 && reg > 0xffff)
		return SFRAME_REASON_ROW_REGISTER;
	if (control & 1)
		name_register(rule, reg);
	return control & 4 ? SFRAME_REASON_ROW_RULE : SFRAME_REASON_NONE;
}

/* cfa; cfa, ra; cfa, 0, fp; cfa, ra, fp */
static enum sframe_reason flex_frame(struct row *row, struct ref_frame *frame)
{
	enum sframe_reason reason;
	unsigned int left;
	u32 zero = 0;

	if (row->nr == 1)
		return SFRAME_REASON_ROW_WORDS;
	reason = pair(row, &frame->cfa);
	if (!reason && (frame->cfa.base == REF_CFA ||
			scale_cfa(&frame->cfa.off)))
		reason = SFRAME_REASON_ROW_RULE;
	left = row->nr - 2;
	if (reason || !left)
		return reason;
	if (left == 1 || left > 4)
		return SFRAME_REASON_ROW_WORDS;
	if (left == 3) {
		reason = word(row, &zero);
		if (zero)
			return SFRAME_REASON_ROW_WORDS;
	} else {
		reason = pair(row, &frame->ra);
		if (!reason && frame->ra.base == REF_CFA && !frame->ra.load)
			reason = SFRAME_REASON_ROW_RULE;
	}
	if (!reason && left > 2)
		reason = pair(row, &frame->fp);
	return reason;
}

static enum sframe_reason row_frame(struct row *row, bool flex,
				    struct ref_frame *frame)
{
	if (!row->nr) {
		frame->outermost = true;
		return SFRAME_REASON_NONE;
	}
	if (row->info & 0x80 && !MACHINE_SIGNS)
		return SFRAME_REASON_ROW_RULE;
	frame->ra = MACHINE_RA ? saved_at(MACHINE_RA) :
				 (struct ref_rule) { .base = REF_LR };
	frame->flex = flex;
	return flex ? flex_frame(row, frame) : default_frame(row, frame);
}

/*
 * With the signal bit the caller's address is exact. A frame whose return
 * address is not from a call is a signal frame.
 */
static void mark_signal(struct ref_frame *frame)
{
	const struct ref_rule *ra = &frame->ra;

	if (frame->outermost)
		return;
	if ((ra->base == REF_CFA && ra->off < 0) ||
	    (ra->base == REF_FP && ra->load) ||
	    (ra->base == REF_LR && !ra->load)) {
		frame->flex = true;
		frame->exact = true;
	} else {
		*frame = (struct ref_frame) { .signal = true };
	}
}

/* The rules of @ip, from what the read of this number has seen. */
static enum sframe_reason section_frame(const struct ref_window *ref,
					unsigned long ip, u32 read,
					struct ref_frame *frame)
{
	struct place place = { .ref = ref, .read = read };
	enum sframe_reason reason;
	struct attributes attr;
	struct ref_func func = { 0 };
	struct row row = { 0 };
	u64 off, rows;

	memset(frame, 0, sizeof(*frame));
	reason = find_function(&place, ip, &func, &rows);
	if (reason)
		return reason;
	place.pos = ref->fres + rows;
	reason = take_attributes(&place, &attr, &func);
	if (reason)
		return reason;
	if (func.signal && !attr.nr_rows) {
		frame->signal = true;
		return SFRAME_REASON_NONE;
	}
	off = ip - func.start;
	if (func.block)
		off %= func.block;
	reason = find_row(&place, &attr, off, &func, &row);
	if (!reason)
		reason = row_frame(&row, attr.flex, frame);
	if (!reason && func.signal)
		mark_signal(frame);
	return reason;
}

/* Packed tables. */

static int table_number(unsigned long addr, unsigned int size, u64 *value)
{
	u8 bytes[8];

	if (model_take_loads(addr, size, bytes))
		return -EFAULT;
	*value = get_number(bytes, size);
	return 0;
}

static u64 nr_rules(const struct ref_window *ref)
{
	return (ref->fdes - 32) / 16;
}

static enum sframe_reason table_rule(const struct ref_window *ref, u64 id,
				     u8 *rule)
{
	if (id >= nr_rules(ref))
		return SFRAME_REASON_FRE_OFFSET;
	return model_take_loads(ref->addr + 32 + 16 * id, 16, rule) ?
	       SFRAME_REASON_SECTION_FAULT : SFRAME_REASON_NONE;
}

/*
 * The rest of a block, whose first eight bytes were read, by eights up to a change
 * that is after @unit: how many come before it.
 */
static int count_changes(unsigned long at, u8 *bytes, u8 unit,
			 unsigned int *count)
{
	const unsigned int nr = bytes[0];
	unsigned int passed = 0, i = 1;

	for (;;) {
		while (i < 8 && bytes[i] <= unit)
			i++;
		passed += i;
		if (i < 8 || passed > nr)
			break;
		if (model_take_loads(at + passed, 8, bytes))
			return -EFAULT;
		i = 0;
	}
	*count = min(passed - 1, nr);
	return 0;
}

static enum sframe_reason block_id(const struct ref_window *ref, u32 entry,
				   u8 unit, u64 *id)
{
	u64 length = ref->fres_end - ref->fres, off = entry & 0x3fffffff, nr;
	unsigned long at = ref->addr + ref->fres + off;
	unsigned int size = entry & 1 << 30 ? 2 : 1, count;
	u8 bytes[8];

	if (off >= length)
		return SFRAME_REASON_FRE_OFFSET;
	if (model_take_loads(at, sizeof(bytes), bytes))
		return SFRAME_REASON_SECTION_FAULT;
	nr = bytes[0];
	if (1 + nr + (nr + 1) * size > length - off)
		return SFRAME_REASON_FRE_OFFSET;
	if (count_changes(at, bytes, unit, &count) ||
	    table_number(at + 1 + nr + count * size, size, id))
		return SFRAME_REASON_SECTION_FAULT;
	return SFRAME_REASON_NONE;
}

static enum sframe_reason find_rule(const struct ref_window *ref, u64 ip,
				    u64 *id, u8 *rule)
{
	enum sframe_reason reason = SFRAME_REASON_NONE;
	u64 off = ip - ref->first;

	if (off >= ref->code)
		return SFRAME_REASON_NO_FDE;
	if (ref->repeat)
		off %= ref->repeat;
	off >>= MACHINE_UNIT_SHIFT;
	if (table_number(ref->addr + ref->fdes + 4 * (off / 256), 4, id))
		return SFRAME_REASON_SECTION_FAULT;
	if (*id & 1ULL << 31)
		reason = block_id(ref, *id, off, id);
	return reason ?: table_rule(ref, *id, rule);
}

static s32 rule_offset(const u8 *rule, unsigned int at)
{
	return signed_number(get_number(rule + at, 4), 4);
}

/* False for a place that there is not. */
static bool place_rule(u8 from, s32 off, struct ref_rule *rule)
{
	*rule = (struct ref_rule) { .off = off, .load = from & 0x80 };
	switch (from >> 5 & 3) {
	case 0:
		*rule = (struct ref_rule) { .base = REF_NONE };
		return !from;
	case 1:
		rule->base = REF_CFA;
		return !(from & 31);
	case 2:
		name_register(rule, from & 31);
		return true;
	default:
		return false;
	}
}

static enum sframe_reason three_places(const struct ref_window *ref,
				       const u8 *rule, u64 id,
				       struct ref_frame *frame)
{
	enum sframe_reason reason;
	u8 next[16];

	frame->flex = true;
	if (!place_rule(rule[1], rule_offset(rule, 4), &frame->cfa) ||
	    !place_rule(rule[2], rule_offset(rule, 8), &frame->ra) ||
	    !place_rule(rule[3], rule_offset(rule, 12), &frame->fp))
		return SFRAME_REASON_ROW_RULE;
	if (frame->cfa.base == REF_NONE || frame->cfa.base == REF_CFA ||
	    (frame->ra.base == REF_CFA && !frame->ra.load) ||
	    (frame->ra.base == REF_NONE && MACHINE_RA != 0) || rule[0] & 0x80)
		return SFRAME_REASON_ROW_RULE;
	if (frame->ra.base == REF_NONE)
		frame->ra.base = REF_LR;
	if (!(rule[0] & 0x40))
		return SFRAME_REASON_NONE;
	if (!frame->cfa.load)
		return SFRAME_REASON_ROW_RULE;
	reason = table_rule(ref, id + 1, next);
	if (reason)
		return reason;
	frame->addend = rule_offset(next, 4);
	return next[0] == 6 ? SFRAME_REASON_NONE : SFRAME_REASON_ROW_RULE;
}

static void plain_rule(const u8 *rule, struct ref_frame *frame)
{
	frame->cfa.base = rule[0] & 0x40 ? REF_FP : REF_SP;
	frame->cfa.off = rule_offset(rule, 4);
	frame->ra = saved_at(rule_offset(rule, 8));
	if (rule[0] & 0x80)
		frame->fp = saved_at(rule_offset(rule, 12));
	frame->third = rule[1];
}

static enum sframe_reason packed_frame(const struct ref_window *ref, u64 ip,
				       struct ref_frame *frame)
{
	enum sframe_reason reason;
	u8 rule[16];
	u64 id;

	memset(frame, 0, sizeof(*frame));
	reason = find_rule(ref, ip, &id, rule);
	if (reason)
		return reason;
	frame->signal = rule[0] == 3;
	frame->outermost = rule[0] == 4;
	frame->by_fp = rule[0] == 5;
	if (frame->signal || frame->outermost || frame->by_fp)
		return SFRAME_REASON_NONE;
	if (!rule[0])
		return SFRAME_REASON_NO_ROW;
	if (!MACHINE_SIGNS && rule[0] & 0x18)
		return SFRAME_REASON_ROW_RULE;
	if ((rule[0] & 7) == 1)
		plain_rule(rule, frame);
	else if ((rule[0] & 7) == 2)
		reason = three_places(ref, rule, id, frame);
	else
		reason = SFRAME_REASON_ROW_RULE;
	if (!reason && rule[0] & 0x20)
		mark_signal(frame);
	return reason;
}

/* Steps. */

static int stack_word(const struct unwind_user_state *state,
		      unsigned long addr, unsigned long *value)
{
	*value = 0;
	if (addr >= TASK_SIZE) {
		/* Without a mask it is not tried. */
		if (!shim_has_mask)
			return -EFAULT;
		addr = TASK_SIZE;
	}
	return model_take_loads(addr, state->ws, value);
}

/* A step by back chain does not tell it. */
static bool fp_lost(const struct unwind_user_state *state)
{
	return !MACHINE_BY_FP && state->fp == ~0UL;
}

/* All registers of the topmost frame are known, of others at most a third one. */
static enum sframe_reason other_register(const struct unwind_user_state *state,
					 u32 number, unsigned long *value)
{
	unsigned long *reg = state->regs ? machine_reg(&shim_regs, number) : NULL;
	bool is_third = number == MACHINE_THIRD;

	if (is_third && state->third > 1)
		return stack_word(state, state->third, value) ?
		       SFRAME_REASON_STACK_FAULT : SFRAME_REASON_NONE;
	if (!reg || !(is_third ? state->third : state->topmost))
		return SFRAME_REASON_ROW_REGISTER;
	*value = *reg;
	return SFRAME_REASON_NONE;
}

static enum sframe_reason rule_value(const struct unwind_user_state *state,
				     const struct ref_rule *rule,
				     unsigned long cfa, unsigned long *value)
{
	enum sframe_reason reason;
	unsigned long base = 0;

	switch (rule->base) {
	case REF_NONE:
		return SFRAME_REASON_NONE;
	case REF_CFA:
		base = cfa;
		break;
	case REF_SP:
		if (state->sp_bound)
			return SFRAME_REASON_ROW_REGISTER;
		base = state->sp;
		break;
	case REF_FP:
		if (fp_lost(state))
			return SFRAME_REASON_ROW_REGISTER;
		base = state->fp;
		break;
	case REF_LR:
		/* A call overwrites it. */
		if (!state->topmost)
			return SFRAME_REASON_ROW_REGISTER;
		base = state->lr;
		break;
	case REF_OTHER:
		reason = other_register(state, rule->reg, &base);
		if (reason)
			return reason;
		break;
	}
	base += (s64)rule->off;
	if (rule->load && stack_word(state, base, value))
		return SFRAME_REASON_STACK_FAULT;
	if (!rule->load)
		*value = base;
	return SFRAME_REASON_NONE;
}

/* The caller's stack pointer for a CFA. */
static unsigned long sp_of(unsigned long cfa)
{
	return cfa - MACHINE_SAVED;
}

static const struct return_instance *probe_at(const struct return_instance *ri,
					      unsigned long slot)
{
	while (ri && ri->stack != slot)
		ri = ri->next;
	return ri;
}

/* The lowest place of an address, from @slot on, that a probe has taken. */
static unsigned long next_probe(const struct return_instance *ri,
				unsigned long slot)
{
	unsigned long lowest = ULONG_MAX;

	for (; ri; ri = ri->next)
		if (ri->stack >= slot && ri->stack < lowest)
			lowest = ri->stack;
	return lowest;
}

/*
 * A return probe replaced the return address, which was at the stack pointer at
 * entry, by its trampoline. A frame pointer may lead to a copy below.
 */
static enum sframe_reason probed_return(const struct unwind_user_state *state,
					bool by_fp, unsigned long *cfa,
					unsigned long *ra)
{
	const struct return_instance *ri;
	const long probed = MACHINE_PROBED ? -(long)state->ws : 0;
	unsigned long slot = sp_of(*cfa) + probed;

	if (!state->ri || *ra != shim_trampoline)
		return SFRAME_REASON_NONE;
	if (by_fp)
		slot = next_probe(state->ri, slot);
	ri = probe_at(state->ri, slot);
	if (!ri)
		return SFRAME_REASON_RETURN_PROBE;
	*ra = ri->orig_ret_vaddr;
	*cfa = slot - probed + MACHINE_SAVED;
	return SFRAME_REASON_NONE;
}

struct caller {
	unsigned long cfa, ra, fp, lr, third;
};

static unsigned long third_of(const struct unwind_user_state *state,
			      const struct ref_frame *frame, unsigned long cfa)
{
	if (MACHINE_THIRD == ~0u)
		return 0;
	return frame->third > 1 ? cfa - 8 * frame->third :
	       frame->third ? state->third : 0;
}

/*
 * A CFA by a stack pointer that is not known: the frame pointer leads to a frame
 * record, if the frame has one. Its stack pointer is not below the bound.
 */
static bool record_cfa(const struct unwind_user_state *state,
		       const struct ref_frame *frame, unsigned long *cfa)
{
	if (!state->sp_bound || frame->flex || frame->cfa.base != REF_SP ||
	    frame->fp.base == REF_NONE || frame->ra.off != frame->fp.off + 8)
		return false;
	*cfa = state->fp - (s64)frame->fp.off;
	return *cfa - (s64)frame->cfa.off >= state->sp;
}

/* To a stack that is lower, and not what was below this one's pointer. */
static bool may_switch(const struct unwind_user_state *state, unsigned long sp)
{
#ifdef MACHINE_IS_CALL
	return state->ws == 8 && sp < state->sp && sp % 8 == 0 &&
	       state->sp - sp >= DEAD_STACK && sp >= LOWEST_CODE &&
	       state->switches < MAX_SWITCHES;
#else
	return false;
#endif
}

/* A call is before the address, and frame pointers go up from there. */
static enum sframe_reason switch_stack(struct unwind_user_state *state,
				       const struct caller *caller, bool by_fp)
{
#ifdef MACHINE_IS_CALL
	unsigned long before, code;

	if (by_fp && caller->fp && caller->fp <= state->fp)
		return SFRAME_REASON_CFA_ORDER;
	model.texts++;
	if (stack_word(state, caller->ra - 8, &before))
		return SFRAME_REASON_CFA_ORDER;
	/* The first function of a goroutine was not called. */
	if (!MACHINE_IS_CALL((unsigned char *)&before) &&
	    (!by_fp || caller->fp ||
	     stack_word(state, caller->ra, &code) ||
	     !machine_starts_stack((unsigned char *)&before,
				   (unsigned char *)&code)))
		return SFRAME_REASON_CFA_ORDER;
	state->switches++;
#endif
	return SFRAME_REASON_NONE;
}

static enum sframe_reason read_caller(const struct unwind_user_state *state,
				      const struct ref_frame *frame,
				      struct caller *caller)
{
	enum sframe_reason reason;
	unsigned long sp;

	*caller = (struct caller) { .fp = state->fp };
	reason = record_cfa(state, frame, &caller->cfa) ? SFRAME_REASON_NONE :
		 rule_value(state, &frame->cfa, 0, &caller->cfa);
	caller->cfa += (s64)frame->addend;
	sp = sp_of(caller->cfa);
	/* A distance from this stack does not lead to another one. */
	if (!reason && ((frame->cfa.base == REF_SP && !frame->cfa.load) ||
			!may_switch(state, sp)) &&
	    (sp < state->sp || (sp == state->sp && !state->topmost)))
		reason = SFRAME_REASON_CFA_ORDER;
	if (!reason && sp % state->ws)
		reason = SFRAME_REASON_CFA_ALIGN;
	/* Upwards, where the rows cannot say otherwise. */
	if (!reason && !frame->flex)
		reason = rule_value(state, &frame->fp, caller->cfa,
				    &caller->fp);
	if (!reason)
		reason = rule_value(state, &frame->ra, caller->cfa,
				    &caller->ra);
	if (!reason && frame->flex)
		reason = rule_value(state, &frame->fp, caller->cfa,
				    &caller->fp);
	caller->ra = machine_strip(caller->ra);
	caller->third = third_of(state, frame, caller->cfa);
	return reason;
}

static enum sframe_reason enter(struct unwind_user_state *state,
				struct caller *caller, bool by_fp)
{
	bool down = sp_of(caller->cfa) < state->sp;
	enum sframe_reason reason;

	reason = probed_return(state, by_fp, &caller->cfa, &caller->ra);
	if (reason)
		return reason;
	if (!caller->ra)
		return SFRAME_REASON_NO_CALLER;
	if (!may_be_code(caller->ra))
		return SFRAME_REASON_RETURN_ADDRESS;
	reason = down ? switch_stack(state, caller, by_fp) :
			SFRAME_REASON_NONE;
	if (reason)
		return reason;
	state->ip = caller->ra;
	state->sp = sp_of(caller->cfa);
	state->fp = caller->fp;
	state->third = caller->third;
	state->topmost = false;
	state->exact_ip = false;
	state->sp_bound = false;
	return SFRAME_REASON_NONE;
}

/* Where the frame is; 0 if it is known to be none. */
static enum sframe_reason find_signal(const struct unwind_user_state *state,
				      unsigned long *at)
{
	*at = state->sp;
#ifdef MACHINE_SIGNAL_RECORD
	if (state->sp_bound)
		*at = state->fp - MACHINE_SIGNAL_RECORD;
#endif
#ifdef MACHINE_SIGNAL_AT
	unsigned long ip = state->ip;
	u16 insn = 0;

	if (ip >= TASK_SIZE)
		ip = TASK_SIZE;
	if (model_take_loads(ip, sizeof(insn), &insn))
		return SFRAME_REASON_STACK_FAULT;
	if (!MACHINE_SIGNAL_AT(insn))
		return SFRAME_REASON_SIGNAL;
	*at += MACHINE_SIGNAL_AT(insn);
#endif
	return SFRAME_REASON_NONE;
}

/* A frame that the frame pointer has led to has the same in its record. */
static enum sframe_reason check_record(const struct unwind_user_state *state,
				       const struct caller *caller)
{
	unsigned long fp, lr;

	if (!state->sp_bound)
		return SFRAME_REASON_NONE;
	if (stack_word(state, state->fp, &fp) ||
	    stack_word(state, state->fp + 8, &lr))
		return SFRAME_REASON_STACK_FAULT;
	return fp == caller->fp && lr == caller->lr ? SFRAME_REASON_NONE :
						      SFRAME_REASON_ROW_REGISTER;
}

static enum sframe_reason read_signal(const struct unwind_user_state *state,
				      struct caller *caller)
{
	enum sframe_reason reason;
	unsigned long mode, at;

	if (state->signals >= MAX_SIGNALS)
		return SFRAME_REASON_SIGNAL;
	reason = find_signal(state, &at);
	if (reason)
		return reason;
	caller->lr = caller->third = 0;
#ifdef MACHINE_SIGNAL_THIRD
	caller->third = at + MACHINE_SIGNAL_THIRD;
#endif
	if (stack_word(state, at + MACHINE_SIGNAL_MODE, &mode) ||
	    stack_word(state, at + MACHINE_SIGNAL_IP, &caller->ra) ||
	    stack_word(state, at + MACHINE_SIGNAL_SP, &caller->cfa) ||
	    stack_word(state, at + MACHINE_SIGNAL_FP, &caller->fp))
		return SFRAME_REASON_STACK_FAULT;
#ifdef MACHINE_SIGNAL_LR
	if (stack_word(state, at + MACHINE_SIGNAL_LR, &caller->lr))
		return SFRAME_REASON_STACK_FAULT;
#endif
	return machine_is_user(mode) ? check_record(state, caller) :
				       SFRAME_REASON_SIGNAL;
}

static enum sframe_reason enter_signal(struct unwind_user_state *state,
				       const struct caller *caller)
{
	if (!may_be_code(caller->ra))
		return SFRAME_REASON_RETURN_ADDRESS;
	state->ip = caller->ra;
	state->sp = caller->cfa;
	state->fp = caller->fp;
	state->lr = caller->lr;
	state->third = caller->third;
	state->sp_bound = false;
	state->regs = NULL;
	state->signals++;
	state->topmost = true;
	state->exact_ip = true;
	return SFRAME_REASON_NONE;
}

static enum sframe_reason read_by_frame(const struct unwind_user_state *state,
					const struct ref_frame *frame,
					struct caller *caller)
{
	if (frame->outermost || frame->by_fp)
		return SFRAME_REASON_NONE;
	if (frame->signal)
		return read_signal(state, caller);
	return read_caller(state, frame, caller);
}

static enum sframe_reason enter_by_frame(struct unwind_user_state *state,
					 const struct ref_frame *frame,
					 struct caller *caller)
{
	if (frame->by_fp)
		return SFRAME_REASON_NONE;
	if (frame->signal)
		return enter_signal(state, caller);
	if (!frame->outermost) {
		enum sframe_reason reason = enter(state, caller, false);

		if (!reason)
			state->exact_ip = frame->exact;
		return reason;
	}
	state->done = true;
	return SFRAME_REASON_NONE;
}

/* Ranges that the walk knows besides the one it is in. */
#define KEPT	3

/* Which of them holds @ip? -1: the one the walk is in, KEPT: none. */
static int known_range(const struct sframe_walk *walk, unsigned long ip)
{
	int i;

	if (ip - walk->first < walk->length)
		return -1;
	for (i = 0; i < KEPT; i++)
		if (ip - walk->kept[i].first < walk->kept[i].length)
			break;
	return i;
}

static void swap_range(struct sframe_walk *walk, struct sframe_kept_range *with)
{
	struct sframe_kept_range now = {
		.window = walk->window, .first = walk->first,
		.length = walk->length,
	};

	walk->window = with->window;
	walk->first = with->first;
	walk->length = with->length;
	*with = now;
}

/* Be in the range of @ip, if that is known and nothing has changed since. */
static bool have_range(struct sframe_walk *walk, const struct step *step,
		       unsigned long ip)
{
	int known = known_range(walk, ip);

	if (step->seq != walk->seq || known == KEPT)
		return false;
	if (known >= 0)
		swap_range(walk, &walk->kept[known]);
	return true;
}

/* The oldest one is forgotten; all of them are when something has changed. */
static void look_up(struct sframe_walk *walk, unsigned long ip)
{
	const struct find *find = model_take_find(ip);
	struct sframe_kept_range found = {
		.window = find->range.window, .first = find->range.first,
		.length = find->range.last - find->range.first + 1,
	};
	unsigned int i;

	if (find->seq != walk->seq)
		for (walk->length = i = 0; i < KEPT; i++)
			walk->kept[i].length = 0;
	walk->seq = find->seq;
	swap_range(walk, &found);
	walk->kept[walk->looks++ % KEPT] = found;
}

static int refuse(struct unwind_user_state *state, enum sframe_reason reason)
{
	state->reason = reason;
	return reason == SFRAME_REASON_SECTION_FAULT ||
	       reason == SFRAME_REASON_STACK_FAULT ? -EFAULT : -EINVAL;
}

/*
 * By the rows of a window: false if another one has taken its place while they
 * were read.
 */
static bool try_window(struct unwind_user_state *state, struct step *step,
		       const struct ref_window *ref, unsigned int try,
		       unsigned long ip)
{
	const struct sframe_window *window = state->sframe.window;
	const bool packed = ref->format == SFRAME_FORMAT_PACKED;
	/* A step that is repeated gets back what it has spent. */
	bool out_of_time = step->late || step->after.sframe.budget < 0 ||
			   step->ret == -EFAULT;
	struct caller caller;

	model.missing = false;
	if (packed)
		step->reason = packed_frame(ref, ip, &step->frame);
	else
		step->reason = section_frame(ref, ip, step->reads[try],
					     &step->frame);
	if (!step->reason)
		step->reason = read_by_frame(state, &step->frame, &caller);
	if (step->seq_behind[try] != state->sframe.seq) {
		look_up(&state->sframe, ip);
		if (state->sframe.window != window) {
			/* Why it was not read to the end does not matter. */
			if (model.missing && !out_of_time)
				finding("a window was not read");
			return false;
		}
	}
	if (model.missing)
		finding("a byte that is needed was not read");
	if (!step->reason)
		step->reason = enter_by_frame(state, &step->frame, &caller);
	return true;
}

int ref_step(struct unwind_user_state *state, struct step *step)
{
	unsigned long ip = state->exact_ip ? state->ip : state->ip - 1;
	struct sframe_walk *walk = &state->sframe;
	const struct model_window *window;
	unsigned int try;

	if (!have_range(walk, step, ip))
		look_up(walk, ip);
	for (try = 0; try < 2; try++) {
		window = model_window_of(walk->window);
		if (!window)
			return -ENOENT;
		if (!try_window(state, step, &window->ref, try, ip))
			continue;
		if (step->reason)
			return refuse(state, step->reason);
		return step->frame.by_fp ? -ENOENT : 0;
	}
	step->reason = SFRAME_REASON_CHANGED;
	return refuse(state, step->reason);
}

#ifdef MACHINE_CALL_TARGET

#define ENTRY_BYTES	128

/* Only the frame pointer may have been pushed since the function was called. */
static bool is_entered(const struct unwind_user_state *state,
		       const struct caller *caller, const u8 *before, bool pushed)
{
	unsigned long code[ENTRY_BYTES / 8], target, length, i;

	if (!MACHINE_CALL_TARGET(state->regs, before, caller->ra, &target) ||
	    target > state->ip || state->ip - target > ENTRY_BYTES)
		return false;
	length = state->ip - target;
	for (i = 0; 8 * i < length; i++)
		if (stack_word(state, target + 8 * i, &code[i]))
			return false;
	return unwind_user_code_pushes((u8 *)code, length) == 8 * pushed;
}

static bool is_returning(const struct unwind_user_state *state,
			 const u8 *before)
{
	unsigned long code;

	return MACHINE_IS_CALL(before) &&
	       !stack_word(state, state->ip, &code) &&
	       machine_is_return((u8 *)&code);
}

/* An interrupted function without a frame, if that is certain. */
static bool step_entered(struct unwind_user_state *state)
{
	struct caller caller = { .fp = state->fp, .third = state->third };
	unsigned long before;
	bool pushed;

	if (stack_word(state, state->sp, &caller.ra))
		return false;
	pushed = caller.ra == state->fp;
	if (pushed && stack_word(state, state->sp + 8, &caller.ra))
		return false;
	caller.cfa = state->sp + (pushed ? 16 : 8);
	if (caller.ra < LOWEST_CODE || caller.ra >= TASK_SIZE ||
	    stack_word(state, caller.ra - 8, &before))
		return false;
	if (!is_entered(state, &caller, (u8 *)&before, pushed) &&
	    (pushed || !is_returning(state, (u8 *)&before)))
		return false;
	return !enter(state, &caller, false);
}

#else

static bool step_entered(struct unwind_user_state *state)
{
	return false;
}

#endif

#if MACHINE_BY_FP

enum sframe_reason ref_fp_step(struct unwind_user_state *state)
{
	const s32 ws = state->ws;
	const struct ref_frame entry = {
		.cfa = { .base = REF_SP, .off = ws },
		.ra = saved_at(-ws),
		.third = 1,
	};
	const struct ref_frame frame = {
		.cfa = { .base = REF_FP, .off = 2 * ws },
		.ra = saved_at(-ws),
		.fp = saved_at(-2 * ws),
	};
	bool is_entry = MACHINE_RA && state->topmost && state->regs &&
			shim_function_start;
	enum sframe_reason reason;
	struct caller caller;

	if (!is_entry && state->topmost && state->sframe.reg &&
	    step_entered(state))
		return SFRAME_REASON_NONE;
	if (!is_entry && state->fp < state->sp &&
	    !may_switch(state, state->fp + 2 * ws))
		return SFRAME_REASON_CFA_ORDER;
	reason = read_caller(state, is_entry ? &entry : &frame, &caller);
	if (!reason)
		reason = enter(state, &caller, !is_entry);
	if (!reason)
		state->sp_bound = !MACHINE_FP_GIVES_SP;
	return reason;
}

#else

/* By back chain: the caller's stack pointer is the word at this one. */
enum sframe_reason ref_fp_step(struct unwind_user_state *state)
{
	const struct ref_frame frame = {
		.cfa = { .base = REF_SP, .load = true },
		.ra = saved_at(14 * 8 - MACHINE_SAVED),
		.addend = MACHINE_SAVED,
		.flex = true,
	};
	enum sframe_reason reason;
	struct caller caller;

	reason = read_caller(state, &frame, &caller);
	if (reason)
		return reason;
	if (caller.ra % 2)
		return SFRAME_REASON_RETURN_ADDRESS;
	caller.fp = ~0UL;
	return enter(state, &caller, false);
}

#endif

void ref_find_range(struct unwind_user_state *state, const struct step *step)
{
	if (!have_range(&state->sframe, step, state->ip - 1))
		look_up(&state->sframe, state->ip - 1);
}

/* By a rule that needs two words of the stack; the others are for ref_step(). */
static enum sframe_reason packed_step(struct unwind_user_state *state)
{
	const u8 others = 0x20 | (MACHINE_SIGNS ? 0 : 0x18);
	const struct ref_window *ref =
		&model_window_of(state->sframe.window)->ref;
	struct ref_frame frame = { 0 };
	enum sframe_reason reason;
	struct caller caller;
	u8 rule[16];
	u64 id;

	reason = find_rule(ref, state->ip - 1, &id, rule);
	if (reason)
		return reason;
	if (rule[0] == 5)
		return ref_fp_step(state);
	if ((rule[0] & (7 | others)) != 1)
		return SFRAME_REASON_ROW_RULE;
	plain_rule(rule, &frame);
	reason = read_caller(state, &frame, &caller);
	return reason ?: enter(state, &caller, false);
}

/* To a stack that is higher: others are for the ordinary step. */
static enum sframe_reason one_of_several(struct unwind_user_state *state,
					 const struct step *step)
{
	struct unwind_user_state next = *state;
	enum sframe_reason reason;

	if (state->exact_ip || state->ri || state->topmost)
		finding("a frame is passed by");
	next.switches = MAX_SWITCHES;
	reason = step->packed ? packed_step(&next) : ref_fp_step(&next);
	if (reason)
		return reason;
	next.switches = state->switches;
	*state = next;
	return SFRAME_REASON_NONE;
}

/* After a step: is that for which several are made known of the next one, too? */
static bool may_go_on(struct sframe_walk *walk, const struct step *step,
		      unsigned long ip)
{
	const struct model_window *window;
	int known = known_range(walk, ip);

	if (known < 0)
		return true;
	if (known == KEPT)
		return false;
	swap_range(walk, &walk->kept[known]);
	window = model_window_of(walk->window);
	if (!step->packed)
		return !window;
	return window && window->ref.format == SFRAME_FORMAT_PACKED;
}

/* Has the table of the walk's range something about the call? */
static bool has_code(const struct unwind_user_state *state)
{
	const struct sframe_walk *walk = &state->sframe;
	const struct ref_window *ref = &model_window_of(walk->window)->ref;

	return may_be_code(walk->first) &&
	       may_be_code(walk->first + walk->length) &&
	       state->ip - 1 - ref->first < ref->code;
}

/* Through tables, all of them, or none if something has changed meanwhile. */
void ref_steps(struct unwind_user_state *state, struct step *step)
{
	const struct unwind_user_state before = *state;
	struct sframe_walk walk;

	step->first_ip = model.nr_ips;
	while (model.next_load < step->behind_load) {
		step->may_go_on = false;
		if (one_of_several(state, step))
			break;
		model.ips[model.nr_ips++] = state->ip;
		step->nr_ips++;
		if (!may_go_on(&state->sframe, step, state->ip - 1))
			break;
		step->may_go_on = step->packed && has_code(state);
	}
	step->made = step->nr_ips;
	if (!step->packed || !step->nr_ips ||
	    step->seq_behind[0] == before.sframe.seq)
		return;
	walk = state->sframe;
	*state = before;
	state->sframe = walk;
	model.nr_ips = step->first_ip;
	step->nr_ips = 0;
	step->may_go_on = false;
}

/* Walks. */

static bool start(struct unwind_user_state *state)
{
	const struct uprobe_task *utask = shim_task.utask;

	memset(state, 0, sizeof(*state));
	state->ip = instruction_pointer(&shim_regs);
	state->sp = *machine_reg(&shim_regs, MACHINE_SP);
	state->fp = *machine_reg(&shim_regs, MACHINE_FP);
	if (machine_reg(&shim_regs, MACHINE_LR))
		state->lr = *machine_reg(&shim_regs, MACHINE_LR);
	state->third = 1;
	state->regs = &shim_regs;
	state->ws = machine_word_size(&shim_regs);
	state->topmost = true;
	state->exact_ip = true;
	if (utask) {
		state->ri = utask->return_instances;
		if (utask->active_uprobe && state->ip == utask->xol_vaddr)
			state->ip = utask->vaddr;
	}
	return state->ws;
}

/* What the kernel has begun its walk with. */
static void start_windows(struct unwind_user_state *state, unsigned int frames,
			  bool in_sample)
{
	const struct sframe_walk *walk = &model.steps[0].before.sframe;

	if (!model.nr_steps)
		finding("windows are not used");
	state->available_types = model.steps[0].before.available_types;
	state->sframe = *walk;
	if (walk->reg != &model.registry ||
	    known_range(walk, state->ip) != KEPT)
		finding("a walk begins with a window");
	if (!walk->deadline != !in_sample)
		finding("a walk has the deadline of another");
	if (walk->budget != (int)max(frames, 127U) * 37 +
			    (in_sample ? 0 : 0xffff))
		finding("a walk has the budget of another");
}

static bool next_is(const struct unwind_user_state *state, bool several)
{
	const struct step *step = &model.steps[model.next_step];

	return model.next_step < model.nr_steps && step->several == several &&
	       step->first_load == model.next_load &&
	       step->before.ip == state->ip && step->before.sp == state->sp;
}

/* The step by windows, or some, was compared; take it as it was. */
static const struct step *take_step(struct unwind_user_state *state,
				    bool several)
{
	struct unwind_user_state at = *state;
	const struct step *step;

	if (!next_is(state, several))
		finding("windows are passed by");
	step = &model.steps[model.next_step++];
	at.fault = step->before.fault;
	at.fault_size = step->before.fault_size;
	at.reason = step->before.reason;
	at.current_type = step->before.current_type;
	at.sframe.budget = step->before.sframe.budget;
	at.sframe.slack = step->before.sframe.slack;
	at.sframe.deadline = step->before.sframe.deadline;
	at.sframe.stopped = step->before.sframe.stopped;
	if (memcmp(&at, &step->before, sizeof(at)))
		finding("a step from another position");
	model.next_load = step->behind_load;
	model.next_find = step->behind_find;
	*state = step->after;
	return step;
}

/* Several steps at once; false if the next one has to be another. */
static bool take_several(struct unwind_user_state *state, unsigned long *ips,
			 unsigned int *nr, unsigned int max)
{
	const struct step *step;
	unsigned int i;

	if (!next_is(state, true))
		return false;
	step = take_step(state, true);
	for (i = 0; i < step->nr_ips && *nr < max; i++)
		ips[(*nr)++] = model.ips[step->first_ip + i];
	return true;
}

/* 0, or why the stack ends. */
static int next(struct unwind_user_state *state, bool windows,
		enum sframe_reason *reason)
{
	enum sframe_reason why;
	int ret = -ENOENT;

	if (windows)
		ret = take_step(state, false)->ret;
	*reason = SFRAME_REASON_NONE;
	if (ret == -ENOENT) {
		why = ref_fp_step(state);
		if (!why)
			return 0;
		/* Frame pointers end with 0. */
		if (windows && MACHINE_BY_FP && state->fp &&
		    why != SFRAME_REASON_NO_CALLER)
			*reason = SFRAME_REASON_FRAME_POINTER;
		return why == SFRAME_REASON_STACK_FAULT ? -EFAULT : -EINVAL;
	}
	if (ret)
		*reason = state->reason;
	return ret;
}

/* A step is repeated when what was missing is there. */
static int next_sleeping(struct unwind_user_state *state, bool windows,
			 enum sframe_reason *reason)
{
	unsigned int faults;
	int ret;

	for (faults = 0; ; faults++) {
		ret = next(state, windows, reason);
		if (ret != -EFAULT || faults == MAX_FAULTS ||
		    model_take_fault_in())
			return ret;
	}
}

unsigned int ref_deferred_walk(unsigned long *ips, unsigned int max,
			       enum sframe_reason *reason)
{
	struct unwind_user_state state;
	unsigned int nr = 0;
	bool windows;

	*reason = SFRAME_REASON_NONE;
	if (shim_task.flags & PF_KTHREAD || !user_mode(&shim_regs) ||
	    !start(&state))
		return 0;
	windows = state.ws == 8 && model.nr_windows;
	if (windows && max > 1)
		start_windows(&state, max, false);
	ips[nr++] = state.ip;
	while (nr < max && !next_sleeping(&state, windows, reason) &&
	       !state.done) {
		ips[nr++] = state.ip;
		while (windows && take_several(&state, ips, &nr, max))
			;
	}
	return nr;
}

unsigned int ref_perf_walk(unsigned long *ips, unsigned int max,
			   bool is_full, enum sframe_reason *reason)
{
	struct unwind_user_state state;
	unsigned int nr = 0;

	*reason = SFRAME_REASON_NONE;
	if (!start(&state) || state.ws != 8 || !model.nr_windows || !max)
		return 0;
	start_windows(&state, max, true);
	while (nr < max && !next(&state, true, reason) && !state.done) {
		if (is_full)
			break;
		ips[nr++] = state.ip;
		while (take_several(&state, ips, &nr, max))
			;
	}
	return nr;
}
