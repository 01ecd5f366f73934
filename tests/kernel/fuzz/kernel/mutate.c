// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Mutations that know what the bytes of an input are. */
#include "input.h"

size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max_size,
			       unsigned int seed);

static u64 rng;

static u32 rnd(u32 below)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return below ? (rng >> 20) % below : 0;
}

struct bytes {
	u8 *data;
	size_t size, max;
	struct input *in;
	u8 *section;
	u32 length;
};

/* The section as far as it is there. */
static void find_section(struct bytes *b)
{
	size_t behind = b->size - sizeof(struct input);

	b->in = (struct input *)b->data;
	b->section = b->data + sizeof(struct input);
	b->length = min((size_t)b->in->section_size, behind);
}

static u64 get(const struct bytes *b, u32 off, unsigned int size)
{
	if (off < b->length && size <= b->length - off)
		return get_number(b->section + off, size);
	return 0;
}

static void put(const struct bytes *b, u32 off, u64 value, unsigned int size)
{
	if (off < b->length && size <= b->length - off)
		put_number(b->section + off, value, size);
}

static u64 odd_number(void)
{
	static const u64 numbers[] = {
		0, 1, 2, 7, 8, 15, 16, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
		0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 47,
		~0ULL >> 1, 1ULL << 63, ~0ULL,
	};
	u64 number = numbers[rnd(ARRAY_SIZE(numbers))];

	return rnd(3) ? number + rnd(5) - 2 : rnd(300);
}

static u32 base_of(const struct bytes *b)
{
	return b->in->flags & (INPUT_SECOND | INPUT_SUCCESSOR) && rnd(3) == 0 ?
	       b->in->second : 0;
}

struct entry {
	u32 at;			/* in the index */
	u32 attr;
	u64 start;		/* from the section's first byte */
	u32 size;
};

static bool random_entry(const struct bytes *b, struct entry *entry)
{
	u32 base = base_of(b), nr = get(b, base + 8, 4);

	if (!nr)
		return false;
	entry->at = base + 28 + get(b, base + 20, 4) + 16 * rnd(min(nr, 128U));
	entry->start = entry->at + get(b, entry->at, 8);
	entry->size = get(b, entry->at + 8, 4);
	entry->attr = base + 28 + get(b, base + 24, 4) +
		      get(b, entry->at + 12, 4);
	return true;
}

/* Where a row of @entry begins, and the size of its start. */
static u32 random_row(const struct bytes *b, const struct entry *entry,
		      unsigned int *start_size)
{
	u32 rows = get(b, entry->attr, 2), pos = entry->attr + 5, i;
	u8 info;

	*start_size = 1 << (get(b, entry->attr + 2, 1) & 3);
	for (i = rows ? rnd(min(rows, 70U)) : 0; i; i--) {
		info = get(b, pos + *start_size, 1);
		pos += *start_size + 1 +
		       ((info >> 1 & 15) << (info >> 5 & 3));
	}
	return pos;
}

static bool is_table(const struct bytes *b, u32 base)
{
	return get(b, base, 2) == PACKED_MAGIC;
}

static u64 code_address(const struct bytes *b)
{
	struct entry entry = { 0 };
	unsigned int size;
	u32 off = 0, row;

	if (is_table(b, 0))
		return TAG(TAG_TEXT, rnd(get(b, 16, 4) + 2));
	if (!random_entry(b, &entry))
		return TAG(TAG_TEXT, rnd(64));
	switch (rnd(5)) {
	case 0:
		break;
	case 1:
		off = entry.size - rnd(3);
		break;
	case 2:
		off = rnd(entry.size + 1);
		break;
	default:
		row = random_row(b, &entry, &size);
		off = get(b, row, min(size, 4U)) + rnd(2);
	}
	/* A return address is looked up one byte before. */
	return TAG(TAG_SECTION, entry.start + off + rnd(2));
}

static u64 stack_address(void)
{
	return TAG(TAG_STACK, rnd(STACK_MAX / 8) * 8 + (rnd(30) ? 0 : rnd(9)));
}

static u64 any_address(const struct bytes *b)
{
	switch (rnd(9)) {
	case 8:
		return TRAMPOLINE;
	case 0:
		return TAG(TAG_END, (s32)rnd(33) - 24);
	case 1:
		return odd_number();
	case 2:
		return TAG(TAG_SECTION, rnd(b->length + 16));
	case 3:
		return TAG(TAG_SECOND, rnd(64));
	case 4: case 5:
		return stack_address();
	default:
		return code_address(b);
	}
}

/* One field of the header. */
static void mutate_header(struct bytes *b)
{
	static const struct { u8 off, size; } fields[] = {
		{ 0, 2 }, { 2, 1 }, { 3, 1 }, { 4, 1 }, { 5, 1 }, { 6, 1 },
		{ 7, 1 }, { 8, 4 }, { 12, 4 }, { 16, 4 }, { 20, 4 }, { 24, 4 },
	};
	u32 i = rnd(4) ? 7 + rnd(5) : rnd(12), base = base_of(b);
	u32 old = get(b, base + fields[i].off, fields[i].size);

	put(b, base + fields[i].off,
	    rnd(2) ? old + rnd(33) - 16 : odd_number(), fields[i].size);
}

static void mutate_entry(struct bytes *b)
{
	struct entry entry, other;
	u64 start;

	if (!random_entry(b, &entry))
		return;
	start = entry.start - entry.at;
	switch (rnd(5)) {
	case 0:
		put(b, entry.at, start + rnd(65) - 32, 8);
		break;
	case 1:
		put(b, entry.at, rnd(2) ? odd_number() : start << 1, 8);
		break;
	case 2:
		put(b, entry.at + 8, rnd(2) ? entry.size + rnd(17) - 8 :
		    odd_number(), 4);
		break;
	case 3:
		put(b, entry.at + 12, rnd(2) ? rnd(b->length + 8) :
		    odd_number(), 4);
		break;
	default:
		if (random_entry(b, &other))
			put(b, entry.at + 12, get(b, other.at + 12, 4), 4);
	}
}

static void mutate_attributes(struct bytes *b)
{
	static const u8 infos[] = { 0, 1, 2, 3, 0x10, 0x20, 0x40, 0x80, 0x92 };
	struct entry entry;

	if (!random_entry(b, &entry))
		return;
	switch (rnd(5)) {
	case 0:
		put(b, entry.attr, rnd(4) ? rnd(20) : odd_number(), 2);
		break;
	case 1:
		put(b, entry.attr + 2, infos[rnd(ARRAY_SIZE(infos))] |
		    rnd(3), 1);
		break;
	case 2:
		put(b, entry.attr + 3, rnd(3) ? 1 : odd_number(), 1);
		break;
	case 3:
		put(b, entry.attr + 4, rnd(2) ? 16 : odd_number(), 1);
		break;
	default:
		put(b, entry.attr + 2, get(b, entry.attr + 2, 1) |
		    1 << rnd(8), 1);
	}
}

static u8 flex_control(void)
{
	static const u8 regs[] = { 7, 6, 0, 3, 15, 16, 31 };
	u8 control = rnd(8) ? rnd(4) : rnd(8);

	return control | regs[rnd(ARRAY_SIZE(regs))] << 3;
}

static void mutate_row(struct bytes *b)
{
	unsigned int size, word_size, nr, i;
	struct entry entry;
	u32 row, words;
	u8 info;

	if (!random_entry(b, &entry))
		return;
	row = random_row(b, &entry, &size);
	info = get(b, row + size, 1);
	word_size = 1 << (info >> 5 & 3);
	nr = info >> 1 & 15;
	words = row + size + 1;
	i = rnd(nr + 1);
	switch (rnd(6)) {
	case 0:
		put(b, row, get(b, row, min(size, 4U)) + rnd(17) - 8,
		    min(size, 4U));
		break;
	case 1:
		put(b, row + size, rnd(2) << 7 | rnd(4) << 5 | rnd(8) << 1 |
		    rnd(2), 1);
		break;
	case 2:
		put(b, row + size, info ^ 1 << rnd(8), 1);
		break;
	case 3:
		put(b, words + i * word_size, flex_control(),
		    min(word_size, 4U));
		break;
	case 4:
		put(b, words + i * word_size, (s64)(8 * (s32)rnd(33)) - 64,
		    min(word_size, 4U));
		break;
	default:
		put(b, words + i * word_size, odd_number(), min(word_size, 4U));
	}
}

static u8 random_kind(void)
{
	return rnd(4) ? 1 + rnd(2) + (rnd(3) ? rnd(4) << 6 : rnd(32) << 3) :
			rnd(8);
}

static u8 random_place(void)
{
	static const u8 places[] = { 0, 0x20, 0xa0, 0x47, 0xc7, 0x46, 0xc6, 0x43 };

	return rnd(8) ? places[rnd(ARRAY_SIZE(places))] : rnd(256);
}

/* Of a packed table: header, a rule, an entry of the index, or a block. */
static void mutate_table(struct bytes *b)
{
	u32 base = base_of(b), rules = get(b, base + 6, 2), at;
	u32 buckets = min((get(b, base + 16, 4) + 255) / 256, 64ULL);
	u32 blocks = get(b, base + 20, 4);

	if (!is_table(b, base))
		return;
	at = base + 32 + 16 * rnd(rules);
	switch (rnd(8)) {
	case 0:
		put(b, base + 5 + rnd(27), odd_number(), 1);
		break;
	case 1:
		put(b, base + 16 + 4 * rnd(2), odd_number(), 4);
		break;
	case 2:
		put(b, at, random_kind(), 1);
		break;
	case 3:
		put(b, at + 1 + rnd(3), random_place(), 1);
		break;
	case 4:
		put(b, at + 4 + 4 * rnd(3), rnd(3) ? 8 * (s32)rnd(33) - 128 :
		    odd_number(), 4);
		break;
	case 5:
		put(b, base + 32 + 16 * rules + 4 * rnd(buckets),
		    rnd(2) ? rnd(rules + 1) :
		    1U << 31 | rnd(3) << 30 | rnd(blocks + 2), 4);
		break;
	default:
		put(b, base + 32 + 16 * rules + 4 * buckets + rnd(blocks),
		    rnd(2) ? rnd(rules + 1) : rnd(256), 1);
	}
}

/* Take bytes out of the section, or repeat some. */
static void mutate_length(struct bytes *b)
{
	u32 at = rnd(b->length + 1), size = 1 + rnd(rnd(4) ? 24 : 200);
	size_t behind;

	if (rnd(2)) {
		size = min(size, b->length - at);
		behind = b->data + b->size - (b->section + at + size);
		memmove(b->section + at, b->section + at + size, behind);
		b->size -= size;
		b->in->section_size = b->length - size;
	} else if (size <= at && size <= b->max - b->size &&
		   b->length + size <= SECTION_MAX) {
		behind = b->data + b->size - (b->section + at);
		memmove(b->section + at + size, b->section + at, behind);
		memcpy(b->section + at, b->section + at - size, size);
		b->size += size;
		b->in->section_size = b->length + size;
	}
}

/* Small inputs are as good as large ones. */
static void mutate_end(struct bytes *b)
{
	u8 *stack = b->section + b->length;
	size_t words = (b->data + b->size - stack) / 8;

	if (words && rnd(2)) {
		b->size -= 8 * (1 + rnd(rnd(2) ? words : 4) % words);
	} else if (b->length) {
		u32 cut = 1 + rnd(rnd(2) ? b->length : 8) % b->length;

		memmove(stack - cut, stack, b->data + b->size - stack);
		b->size -= cut;
		b->in->section_size = b->length - cut;
	}
}

static void mutate_stack(struct bytes *b)
{
	u8 *stack = b->section + b->length, *end = b->data + b->size;
	u32 words, at, nr = 1 + rnd(4);
	u64 word;

	if (end - stack < STACK_MAX && rnd(3) == 0 && b->max - b->size >= 64) {
		memset(end, 0, 64);
		b->size += 64;
		end += 64;
	}
	words = (end - stack) / 8;
	for (; words && nr; nr--) {
		at = rnd(words);
		word = rnd(3) ? code_address(b) : any_address(b);
		memcpy(stack + 8 * at, &word, 8);
	}
}

/* The mode is the last one, or the stack pointer. */
#define SIGNAL_WORDS	(max(MACHINE_SIGNAL_MODE, MACHINE_SIGNAL_SP) / 8)

/* Writes a signal frame after word @at. */
static void mutate_signal(struct bytes *b)
{
	u8 *stack = b->section + b->length;
	u32 words = min((b->data + b->size - stack) / 8, STACK_MAX / 8L), at;
	const u64 mode = rnd(8) ? MACHINE_USER_MODE : rnd(64);
	struct entry entry;
	u64 word;

	if (random_entry(b, &entry) && rnd(2))
		put(b, entry.attr + 2, 0x80 | rnd(3), 1);
	if (words <= SIGNAL_WORDS)
		return;
	at = rnd(words - SIGNAL_WORDS);
	b->in->sp = TAG(TAG_STACK, 8 * at);
	stack += 8 * at;
	word = stack_address();
	memcpy(stack + MACHINE_SIGNAL_FP, &word, 8);
	word = stack_address();
	memcpy(stack + MACHINE_SIGNAL_SP, &word, 8);
	word = code_address(b);
	memcpy(stack + MACHINE_SIGNAL_IP, &word, 8);
	memcpy(stack + MACHINE_SIGNAL_MODE, &mode, 8);
}

static void mutate_registers(struct bytes *b)
{
	struct input *in = b->in;

	switch (rnd(6)) {
	case 0:
		in->ip = rnd(8) ? code_address(b) : any_address(b);
		break;
	case 1:
		in->sp = rnd(8) ? stack_address() : any_address(b);
		break;
	case 2:
		in->fp = rnd(8) ? stack_address() : any_address(b);
		break;
	case 3:
		in->regs[rnd(16)] = any_address(b);
		break;
	case 4:
		in->regs[rnd(3)] = rnd(2) ? odd_number() : any_address(b);
		in->regs[4 + rnd(4)] = rnd(2) ? 0 : rnd(130);
		break;
	default:
		in->returns[rnd(NR_RETURNS)] = any_address(b);
		in->probed = rnd(0x10000);
		in->flags |= INPUT_UTASK;
	}
}

static void mutate_head(struct bytes *b)
{
	struct input *in = b->in;

	switch (rnd(12)) {
	case 0:
		in->place = rnd(256);
		break;
	case 1:
		in->flags ^= 1 << rnd(8);
		break;
	case 2:
		in->state ^= 1 << rnd(8);
		break;
	case 3:
		in->signals = rnd(10);
		break;
	case 4:
		in->pad = rnd(2) ? rnd(PAGE_SIZE) : rnd(16) * 8;
		break;
	case 5:
		in->budget = rnd(4) ? 4096 : rnd(40);
		break;
	case 6:
		in->beyond = rnd(2) ? 0 : (s32)rnd(64) - 32;
		break;
	case 7:
		in->max_frames = rnd(3) ? 0 : rnd(256);
		break;
	case 8:
		in->second = rnd(b->length + 1);
		break;
	case 9:
		in->text_start = rnd(2) ? any_address(b) :
					  in->text_start + rnd(65) - 32;
		break;
	case 10:
		in->text_length = rnd(2) ? odd_number() :
					   in->text_length + rnd(65) - 32;
		break;
	default:
		in->second_start = any_address(b);
		in->second_length = odd_number();
		in->opts_size = rnd(3) ? 0 : odd_number();
	}
}

/* Text that lies elsewhere, or is only said to. */
static void mutate_bias(struct bytes *b)
{
	struct input *in = b->in;
	s32 by = rnd(2) ? (s32)rnd(0x20000) - 0x10000 : (s32)rnd(65) - 32;

	if (rnd(8) == 0)
		in->regs[BIAS_REG] = odd_number();
	else
		in->regs[BIAS_REG] += by;
	if (rnd(4) == 0)
		return;
	in->text_start = (in->text_start & ~0xffffffffULL) |
			 (u32)(in->text_start + by);
	in->second_start = (in->second_start & ~0xffffffffULL) |
			   (u32)(in->second_start + by);
	in->ip = (in->ip & ~0xffffffffULL) | (u32)(in->ip + by);
}

static void mutate_pages(struct bytes *b)
{
	u64 pages = b->in->section_pages;
	u32 bit = 2 * rnd(SECTION_MAX / PAGE_SIZE + 2);

	if (rnd(3) == 0)
		b->in->stack_pages ^= 1u << rnd(2 * STACK_MAX / PAGE_SIZE);
	else if (rnd(4) == 0)
		pages = 0;
	else
		pages = (pages & ~(3ULL << (bit & 63))) |
			(u64)rnd(3) << (bit & 63);
	b->in->section_pages = pages;
}

static void mutate_event(struct bytes *b)
{
	struct event event = {
		.kind = rnd(NR_EVENT_KINDS),
		.when = 1 + rnd(rnd(3) ? 24 : 400),
		.where = rnd(rnd(3) ? 128 : SECTION_MAX),
		.size = rnd(9),
		.value = rnd(2) ? any_address(b) : odd_number(),
	};

	/* The count of a section, which was read before. */
	if (rnd(4) == 0) {
		event.where = b->in->pad % PAGE_SIZE + 8;
		event.size = 4;
		event.value = rnd(64);
	}
	b->in->events[rnd(MAX_EVENTS)] = event;
}

static void mutate_any(struct bytes *b)
{
	b->size = LLVMFuzzerMutate(b->data, b->size, b->max);
}

static void (*const mutations[])(struct bytes *) = {
	mutate_header, mutate_entry, mutate_entry, mutate_attributes,
	mutate_attributes, mutate_row, mutate_row, mutate_row, mutate_length,
	mutate_end,
	mutate_stack, mutate_stack, mutate_signal, mutate_registers,
	mutate_registers, mutate_registers, mutate_head, mutate_head,
	mutate_pages, mutate_event, mutate_event, mutate_bias, mutate_any,
	mutate_table, mutate_table,
};

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	struct bytes b = { .data = data, .size = size, .max = max_size };
	u32 nr;

	rng = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (nr = 1 + rnd(4); nr; nr--) {
		if (b.size < sizeof(struct input)) {
			if (max_size < sizeof(struct input))
				return LLVMFuzzerMutate(data, size, max_size);
			memset(data + b.size, 0, sizeof(struct input) - b.size);
			b.size = sizeof(struct input);
		}
		find_section(&b);
		mutations[rnd(ARRAY_SIZE(mutations))](&b);
	}
	return b.size;
}
