// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Records of the input by rounds. */
#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "features.h"
#include "format.h"
#include "rounds.h"

#define TRACING_DATA_SIZE	(EVENT_HEADER_SIZE + 4)

void round_free(struct round *round)
{
	free(round->data);
}

static int make_room(struct round *round, size_t length,
		     struct trouble *trouble)
{
	size_t room = round->room ? round->room : FILE_BUFFER;
	uint8_t *grown;

	while (room - round->used < length)
		room *= 2;
	if (room == round->room)
		return 0;
	grown = realloc(round->data, room);
	if (!grown)
		return trouble_failed(trouble, "records", -ENOMEM);
	round->data = grown;
	round->room = room;
	return 0;
}

static int append_bytes(struct round *round, struct input *input, uint64_t left,
			size_t length, struct trouble *trouble)
{
	int ret;

	if (length > left)
		return trouble_damaged(trouble, input->offset,
			"%zu bytes of a record, where the events have %llu",
			length, (unsigned long long)left);
	ret = make_room(round, length, trouble);
	if (!ret)
		ret = input_read(input, round->data + round->used, length,
				 trouble);
	if (!ret)
		round->used += length;
	return ret;
}

size_t round_length(const uint8_t *event, size_t size)
{
	if (get_u32(event) != RECORD_HEADER_TRACING_DATA ||
	    size < TRACING_DATA_SIZE)
		return size;
	return size + get_u32(event + EVENT_HEADER_SIZE);
}

static int append_tracing_data(struct round *round, struct input *input,
			       uint64_t left, size_t length,
			       struct trouble *trouble)
{
	if (length > FEATURE_MOST)
		return trouble_refused(trouble,
			"tracing data of %zu bytes at offset 0x%llx", length,
			(unsigned long long)input->offset);
	return append_bytes(round, input, left, length, trouble);
}

static int read_record(struct round *round, struct input *input,
		       uint64_t end, size_t *at, size_t *size,
		       struct trouble *trouble)
{
	uint64_t offset = input->offset, left = end - offset;
	const uint8_t *event;
	size_t more;
	int ret;

	if (!left)
		return -ENODATA;
	*at = round->used;
	ret = append_bytes(round, input, left, EVENT_HEADER_SIZE, trouble);
	if (ret)
		return ret;
	event = round->data + *at;
	*size = get_u16(event + offsetof(struct perf_event_header, size));
	if (*size < EVENT_HEADER_SIZE)
		return trouble_damaged(trouble, offset,
				       "a record of %zu bytes", *size);
	ret = append_bytes(round, input, end - input->offset,
			   *size - EVENT_HEADER_SIZE, trouble);
	if (ret)
		return ret;
	more = round_length(round->data + *at, *size) - *size;
	return more ? append_tracing_data(round, input, end - input->offset,
					  more, trouble) : 0;
}

static int add_unpacked(struct round *round, const uint8_t *event,
			size_t size, struct trouble *trouble)
{
	int ret = make_room(round, size, trouble);

	if (ret)
		return ret;
	memcpy(round->data + round->used, event, size);
	round->used += size;
	return 0;
}

/* 1: it was a compressed one, and is taken out again. */
static int read_next(struct round *round, struct input *input, uint64_t end,
		     struct unpack *unpack, size_t *at, size_t *size,
		     struct trouble *trouble)
{
	uint64_t offset = input->offset;
	int ret = read_record(round, input, end, at, size, trouble);

	if (ret == -ENODATA)
		round->cut = input->offset != offset ||
			     unpack_has_rest(unpack);
	if (ret || !unpack_is_packed(round->data + *at))
		return ret;
	ret = unpack_add(unpack, round->data + *at, *size, offset, trouble);
	round->used = *at;
	return ret ? ret : 1;
}

int round_read(struct round *round, struct input *input, uint64_t left,
	       struct unpack *unpack, size_t *at, size_t *size,
	       struct trouble *trouble)
{
	uint64_t end = input->offset + left;
	const uint8_t *event;
	int ret;

	if (!round->used)
		round->offset = input->offset + unpack->shift;
	do {
		*at = round->used;
		ret = unpack_next(unpack, &event, trouble);
		*size = ret;
		if (ret > 0)
			return add_unpacked(round, event, ret, trouble);
		if (!ret)
			ret = read_next(round, input, end, unpack, at, size,
					trouble);
	} while (ret == 1);
	return ret;
}
