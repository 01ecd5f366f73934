// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The fields of PERF_RECORD_SAMPLE, in the order of <linux/perf_event.h>, up to
 * the stack.
 */
#include <errno.h>

#include "format.h"
#include "sample.h"

struct cursor {
	const uint8_t *event;
	size_t at, size;
	bool over;		/* a field was after the end */
};

static const uint8_t *take_items(struct cursor *cursor, uint64_t nr,
				 size_t each)
{
	const uint8_t *from = cursor->event + cursor->at;

	if (nr > (cursor->size - cursor->at) / each) {
		cursor->over = true;
		return NULL;
	}
	cursor->at += nr * each;
	return from;
}

static uint64_t take_u64(struct cursor *cursor)
{
	const uint8_t *at = take_items(cursor, 1, 8);

	return at ? get_u64(at) : 0;
}

static void skip_words(struct cursor *cursor, uint64_t type)
{
	take_items(cursor, __builtin_popcountll(type & (PERF_SAMPLE_IDENTIFIER |
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)), 8);
}

static void skip_read(struct cursor *cursor, uint64_t format)
{
	size_t times = __builtin_popcountll(format &
		(PERF_FORMAT_TOTAL_TIME_ENABLED |
		 PERF_FORMAT_TOTAL_TIME_RUNNING));
	size_t words = 1 + __builtin_popcountll(format &
		(PERF_FORMAT_ID | FORMAT_LOST));
	uint64_t nr = 1;

	if (format & PERF_FORMAT_GROUP)
		nr = take_u64(cursor);
	take_items(cursor, times, 8);
	take_items(cursor, nr, 8 * words);
}

static void take_call_chain(struct cursor *cursor, struct sample *sample)
{
	sample->nr_ips = take_u64(cursor);
	sample->ips = take_items(cursor, sample->nr_ips, 8);
}

static void take_raw(struct cursor *cursor, struct sample *sample)
{
	const uint8_t *size = take_items(cursor, 1, 4);

	if (!size)
		return;
	sample->raw_size = get_u32(size);
	sample->raw = take_items(cursor, sample->raw_size, 1);
}

static void skip_branches(struct cursor *cursor, uint64_t branch_type)
{
	uint64_t nr = take_u64(cursor);

	if (branch_type & BRANCH_HW_INDEX)
		take_items(cursor, 1, 8);
	take_items(cursor, nr, 24);
	if (branch_type & BRANCH_COUNTERS)
		take_items(cursor, nr, 8);
}

static void take_user_registers(struct cursor *cursor, uint64_t mask,
				struct sample *sample)
{
	sample->abi = take_u64(cursor);
	if (sample->abi)
		sample->registers =
			take_items(cursor, __builtin_popcountll(mask), 8);
}

/* The size of the copy, and after it how much of that is valid. */
static void take_stack(struct cursor *cursor, struct sample *sample)
{
	uint64_t room = take_u64(cursor), copied;

	if (!room)
		return;
	sample->stack = take_items(cursor, room, 1);
	copied = take_u64(cursor);
	sample->stack_size = copied < room ? copied : room;
}

int sample_parse(const struct attr *attr, const uint8_t *event, size_t size,
		 struct sample *sample)
{
	struct cursor cursor = { event, EVENT_HEADER_SIZE, size, false };
	uint64_t type = attr->sample_type;

	*sample = (struct sample){ .event = event, .size = size };
	skip_words(&cursor, type);
	if (type & PERF_SAMPLE_READ)
		skip_read(&cursor, attr->read_format);
	sample->chain = cursor.at;
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_call_chain(&cursor, sample);
	sample->chain_end = cursor.at;
	if (type & PERF_SAMPLE_RAW)
		take_raw(&cursor, sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(&cursor, attr->branch_type);
	sample->user = cursor.at;
	if (type & PERF_SAMPLE_REGS_USER)
		take_user_registers(&cursor, attr->regs_user, sample);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(&cursor, sample);
	sample->user_end = cursor.at;
	return cursor.over ? -EBADMSG : 0;
}

/* ---- Writing ---------------------------------------------------------- */

/* The part of an existing chain before that of user space. */
static size_t kernel_ips(const struct sample *sample)
{
	uint64_t ip;
	size_t i;

	for (i = 0; i < sample->nr_ips; i++) {
		ip = get_u64(sample->ips + 8 * i);
		if (ip == CONTEXT_USER || ip == CONTEXT_USER_DEFERRED)
			break;
	}
	return i;
}

static uint8_t *put_bytes(uint8_t *to, const void *from, size_t length)
{
	memcpy(to, from, length);
	return to + length;
}

static uint8_t *put_sample_word(uint8_t *to, uint64_t word)
{
	put_u64(to, word);
	return to + 8;
}

static uint8_t *put_chain(uint8_t *to, const struct sample *sample,
			  size_t kernel, const uint64_t *frames, size_t nr)
{
	to = put_sample_word(to, kernel + 1 + nr);
	if (kernel)
		to = put_bytes(to, sample->ips, 8 * kernel);
	to = put_sample_word(to, CONTEXT_USER);
	return nr ? put_bytes(to, frames, 8 * nr) : to;
}

size_t sample_rewrite(const struct sample *sample, const uint64_t *frames,
		      size_t nr, uint8_t *out)
{
	const uint8_t *event = sample->event;
	size_t between = sample->user - sample->chain_end;
	size_t behind = sample->size - sample->user_end;
	size_t kernel = kernel_ips(sample);
	size_t least = sample->chain + 8 * (2 + kernel) + between + behind;
	uint8_t *to;

	if (least > EVENT_MOST)
		return 0;
	if (nr > (EVENT_MOST - least) / 8)
		nr = (EVENT_MOST - least) / 8;
	to = put_bytes(out, event, sample->chain);
	to = put_chain(to, sample, kernel, frames, nr);
	to = put_bytes(to, event + sample->chain_end, between);
	to = put_bytes(to, event + sample->user_end, behind);
	put_u16(out + offsetof(struct perf_event_header, size), to - out);
	return to - out;
}

size_t sample_shrink(const struct sample *sample, uint8_t *out)
{
	size_t room = (sample->stack_size + 7) & ~7, before;
	uint8_t *to;

	if (!sample->stack) {
		memcpy(out, sample->event, sample->size);
		return sample->size;
	}
	before = sample->stack - sample->event - 8;
	to = put_bytes(out, sample->event, before);
	to = put_sample_word(to, room);
	to = put_bytes(to, sample->stack, room);
	to = room ? put_sample_word(to, sample->stack_size) : to;
	to = put_bytes(to, sample->event + sample->user_end,
		       sample->size - sample->user_end);
	put_u16(out + offsetof(struct perf_event_header, size), to - out);
	return to - out;
}
