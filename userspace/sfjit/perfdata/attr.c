// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The events of a recording. */
#include <errno.h>
#include <grow.h>
#include <stdlib.h>
#include <time.h>

#include "attr.h"
#include "format.h"

#define AT(field)	offsetof(struct perf_event_attr, field)
/* The bits of a structure have no offset. */
#define AT_FLAGS	(AT(read_format) + 8)

#define MOST_ATTRS	(1U << 16)
#define MOST_IDS	(1U << 20)

#define USER_STACK	(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static bool is_converted(uint64_t sample_type)
{
	return (sample_type & USER_STACK) == USER_STACK;
}

void attrs_free(struct attrs *attrs)
{
	free(attrs->attrs);
	table_free(&attrs->by_id);
}

/* ---- Places ----------------------------------------------------------- */

/* Of 8 bytes each, in this order, after the header of a sample. */
static const uint64_t sample_words[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID,
	PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
};

/* The same at the end of other records. */
static const uint64_t id_words[] = {
	PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER,
};

#define WORDS(list)	(sizeof(list) / sizeof(*(list)))

/* Bytes of what comes before @word, or of all if that is 0. */
static uint16_t bytes_before(uint64_t type, const uint64_t *words, size_t nr,
			     uint64_t word)
{
	uint16_t bytes = 0;
	size_t i;

	for (i = 0; i < nr && words[i] != word; i++)
		bytes += type & words[i] ? 8 : 0;
	return bytes;
}

static uint16_t in_sample(const struct attr *attr, uint64_t word)
{
	if (!(attr->sample_type & word))
		return 0;
	return EVENT_HEADER_SIZE +
	       bytes_before(attr->sample_type, sample_words,
			    WORDS(sample_words), word);
}

static uint16_t from_end(const struct attr *attr, uint64_t word)
{
	if (!(attr->sample_type & word) || !attr->sample_id_all)
		return 0;
	return attr->id_size - bytes_before(attr->sample_type, id_words,
					    WORDS(id_words), word);
}

static void find_places(struct attr *attr)
{
	attr->ip = in_sample(attr, PERF_SAMPLE_IP);
	attr->tid = in_sample(attr, PERF_SAMPLE_TID);
	attr->time = in_sample(attr, PERF_SAMPLE_TIME);
	if (attr->sample_id_all)
		attr->id_size = bytes_before(attr->sample_type, id_words,
					     WORDS(id_words), 0);
	attr->time_back = from_end(attr, PERF_SAMPLE_TIME);
}

/* ---- Attributes ------------------------------------------------------- */

size_t attr_size(const uint8_t *raw)
{
	uint32_t size = get_u32(raw + AT(size));

	return size ? size : PERF_ATTR_SIZE_VER0;
}

/* Fields that an older one lacks are 0. */
static uint64_t u64_of(const uint8_t *raw, size_t size, size_t at)
{
	return at + 8 <= size ? get_u64(raw + at) : 0;
}

static bool is_monotonic(const uint8_t *raw, size_t size, uint64_t flags)
{
	return flags & FLAG_USE_CLOCKID && AT(clockid) + 4 <= size &&
	       get_u32(raw + AT(clockid)) == CLOCK_MONOTONIC;
}

static uint16_t u16_of(const uint8_t *raw, size_t size, size_t at)
{
	return at + 2 <= size ? get_u16(raw + at) : 0;
}

static struct attr parse_attr(const uint8_t *raw, size_t size)
{
	uint64_t flags = get_u64(raw + AT_FLAGS);
	struct attr attr = {
		.type = get_u32(raw + AT(type)),
		.config = get_u64(raw + AT(config)),
		.sample_type = get_u64(raw + AT(sample_type)),
		.read_format = get_u64(raw + AT(read_format)),
		.branch_type = u64_of(raw, size, AT(branch_sample_type)),
		.regs_user = u64_of(raw, size, AT(sample_regs_user)),
		.max_stack = u16_of(raw, size, AT(sample_max_stack)),
		.sample_id_all = flags & FLAG_SAMPLE_ID_ALL,
		.monotonic = is_monotonic(raw, size, flags),
		.own_clock = !(flags & FLAG_USE_CLOCKID),
	};

	attr.convert = is_converted(attr.sample_type);
	find_places(&attr);
	return attr;
}

void attr_convert(uint8_t *raw, size_t size)
{
	uint64_t type = get_u64(raw + AT(sample_type));
	uint64_t flags = get_u64(raw + AT_FLAGS);

	if (!is_converted(type))
		return;
	type = (type & ~(uint64_t)USER_STACK) | PERF_SAMPLE_CALLCHAIN;
	put_u64(raw + AT(sample_type), type);
	put_u64(raw + AT_FLAGS, flags & ~FLAG_EXCLUDE_CALLCHAIN_USER);
	if (size >= AT(sample_regs_user) + 8)
		put_u64(raw + AT(sample_regs_user), 0);
	if (size >= AT(sample_stack_user) + 4)
		put_u32(raw + AT(sample_stack_user), 0);
}

static uint16_t id_in_sample(const struct attr *attr)
{
	uint16_t fixed = in_sample(attr, PERF_SAMPLE_IDENTIFIER);

	return fixed ? fixed : in_sample(attr, PERF_SAMPLE_ID);
}

static uint16_t id_from_end(const struct attr *attr)
{
	uint16_t fixed = from_end(attr, PERF_SAMPLE_IDENTIFIER);

	return fixed ? fixed : from_end(attr, PERF_SAMPLE_ID);
}

/* We must find the event of a record without knowing its format. */
static int check_fields_agree(struct attrs *attrs, const struct attr *attr,
			      uint64_t offset, struct trouble *trouble)
{
	uint16_t id = id_in_sample(attr), back = id_from_end(attr);

	if (attrs->nr && (!id || id != attrs->id || back != attrs->id_back))
		return trouble_damaged(trouble, offset,
			"events that cannot be told apart in samples");
	attrs->id = id;
	attrs->id_back = back;
	return 0;
}

static int check_attr(const struct attrs *attrs, const struct attr *attr,
		      uint64_t offset, struct trouble *trouble)
{
	if (attrs->nr == MOST_ATTRS)
		return trouble_refused(trouble, "more than %u events",
				       MOST_ATTRS);
	if (attr->sample_type & PERF_SAMPLE_AUX)
		return trouble_refused(trouble, "samples with AUX area data");
	if (attr->convert && attr->sample_type & ~SAMPLE_KNOWN)
		return trouble_damaged(trouble, offset,
			"unknown parts of samples, sample_type 0x%llx",
			(unsigned long long)attr->sample_type);
	return 0;
}

int attrs_add(struct attrs *attrs, const uint8_t *raw, size_t size,
	      uint64_t offset, struct trouble *trouble)
{
	struct attr attr = parse_attr(raw, size);
	int ret = check_attr(attrs, &attr, offset, trouble);

	if (!ret)
		ret = check_fields_agree(attrs, &attr, offset, trouble);
	if (ret)
		return ret;
	if (!grow_array(&attrs->attrs, &attrs->max, attrs->nr,
			sizeof(*attrs->attrs)))
		return trouble_failed(trouble, "events", -ENOMEM);
	if (!attrs->nr)
		attrs->timed = attrs->monotonic = attrs->own_clock = true;
	attrs->timed &= attr.time && attr.time_back;
	attrs->monotonic &= attrs->timed && attr.monotonic;
	attrs->own_clock &= attrs->timed && attr.own_clock;
	attrs->attrs[attrs->nr++] = attr;
	return 0;
}

int attrs_add_ids(struct attrs *attrs, const uint8_t *ids, size_t nr,
		  struct trouble *trouble)
{
	uint64_t *index;

	if (nr > MOST_IDS - attrs->by_id.used)
		return trouble_refused(trouble, "more than %u event ids",
				       MOST_IDS);
	for (; nr; nr--, ids += 8) {
		index = table_add(&attrs->by_id, get_u64(ids));
		if (!index)
			return trouble_failed(trouble, "event ids", -ENOMEM);
		*index = attrs->nr - 1;
	}
	return 0;
}

/* ---- Records ---------------------------------------------------------- */

/* The 8 bytes of a record that @at or @back say; NULL: it is too short. */
static const uint8_t *word_of(const uint8_t *event, size_t size, size_t at,
			      size_t back)
{
	bool is_sample = get_u32(event) == PERF_RECORD_SAMPLE;

	if (is_sample)
		return at && at + 8 <= size ? event + at : NULL;
	return back && EVENT_HEADER_SIZE + back <= size ? event + size - back :
	       NULL;
}

const struct attr *attrs_find(const struct attrs *attrs, const uint8_t *event,
			      size_t size)
{
	const uint8_t *id = word_of(event, size, attrs->id, attrs->id_back);
	const uint64_t *index;

	if (attrs->nr < 2)
		return attrs->attrs;
	/* perf's own records have no id. */
	if (get_u32(event) != PERF_RECORD_SAMPLE && (!id || !get_u64(id)))
		return attrs->attrs;
	index = id ? table_find(&attrs->by_id, get_u64(id)) : NULL;
	return index ? &attrs->attrs[*index] : NULL;
}

uint64_t attr_time(const struct attr *attr, const uint8_t *event, size_t size)
{
	const uint8_t *at = word_of(event, size, attr->time, attr->time_back);
	uint64_t time = at ? get_u64(at) : 0;

	return time == UINT64_MAX ? 0 : time;
}
