// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Records of the input by rounds. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features.h"
#include "format.h"
#include "rounds.h"

/*
 * Compressed records. libzstd is loaded when the first one comes: few recordings
 * have any, and sfjit works without it.
 */

#define DATA_MOST	(256U << 10)
/* A part is of one of perf's buffers, which have less. */
#define PART_MOST	(256U << 20)

/* As <zstd.h> has it, since version 1.0. */
struct zstd_in {
	const void *bytes;
	size_t size, at;
};

struct zstd_out {
	void *bytes;
	size_t size, at;
};

static struct {
	void *(*begin)(void);
	size_t (*end)(void *stream);
	size_t (*unpack)(void *stream, struct zstd_out *out,
			 struct zstd_in *in);
	unsigned int (*is_error)(size_t code);
	const char *(*text)(size_t code);
} zstd;

static bool find_functions(void *library)
{
	const struct {
		void *to;
		const char *name;
	} functions[] = {
		{ &zstd.begin, "ZSTD_createDStream" },
		{ &zstd.end, "ZSTD_freeDStream" },
		{ &zstd.unpack, "ZSTD_decompressStream" },
		{ &zstd.is_error, "ZSTD_isError" },
		{ &zstd.text, "ZSTD_getErrorName" },
	};
	void *function;
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		function = dlsym(library, functions[i].name);
		if (!function)
			return false;
		memcpy(functions[i].to, &function, sizeof(function));
	}
	return true;
}

/* It stays loaded. */
static bool load_libzstd(void)
{
	static bool tried, loaded;
	void *library;

	if (tried)
		return loaded;
	tried = true;
	library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	loaded = library && find_functions(library);
	return loaded;
}

static int begin_unpacking(struct unpack *unpack, struct trouble *trouble)
{
	if (unpack->stream)
		return 0;
	if (!load_libzstd())
		return trouble_refused(trouble, "the recording is compressed, "
			"and libzstd is not here: apt-get install libzstd1, or "
			"record without -z");
	unpack->packed = malloc(EVENT_MOST);
	unpack->data = malloc(DATA_MOST);
	if (unpack->packed && unpack->data)
		unpack->stream = zstd.begin();
	return unpack->stream ? 0 : trouble_failed(trouble, "libzstd",
						   -ENOMEM);
}

void unpack_free(struct unpack *unpack)
{
	if (unpack->stream)
		zstd.end(unpack->stream);
	free(unpack->packed);
	free(unpack->data);
}

bool unpack_is_packed(const uint8_t *event)
{
	return get_u32(event) == RECORD_COMPRESSED ||
	       get_u32(event) == RECORD_COMPRESSED2;
}

__attribute__((format(printf, 3, 4)))
static int broken(struct unpack *unpack, struct trouble *trouble,
		  const char *format, ...)
{
	char why[120];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	unpack->broken = true;
	return trouble_damaged(trouble, unpack->offset, "%s", why);
}

/* The second kind says how long its part is: the record has a multiple of 8. */
static int find_part(const uint8_t *event, size_t size, size_t *at,
		     size_t *length)
{
	*at = EVENT_HEADER_SIZE;
	*length = size - *at;
	if (get_u32(event) == RECORD_COMPRESSED)
		return 0;
	if (*length < 8 || get_u64(event + *at) > *length - 8)
		return -EBADMSG;
	*length = get_u64(event + *at);
	*at += 8;
	return 0;
}

int unpack_add(struct unpack *unpack, const uint8_t *event, size_t size,
	       uint64_t offset, struct trouble *trouble)
{
	size_t at, length;
	int ret = begin_unpacking(unpack, trouble);

	if (ret)
		return ret;
	unpack->offset = offset;
	unpack->unpacked = 0;
	if (find_part(event, size, &at, &length) || length > EVENT_MOST)
		return broken(unpack, trouble,
			      "a compressed record of %zu bytes", size);
	memcpy(unpack->packed, event + at, length);
	unpack->packed_at = 0;
	unpack->packed_used = length;
	unpack->shift -= size;
	return 0;
}

/* Room is for more than a record: it is never full. */
static int unpack_more(struct unpack *unpack, struct trouble *trouble)
{
	struct zstd_in in = {
		unpack->packed, unpack->packed_used, unpack->packed_at,
	};
	struct zstd_out out = { .bytes = unpack->data, .size = DATA_MOST };
	uint32_t most = unpack->most && unpack->most < PART_MOST ?
			unpack->most : PART_MOST;
	size_t ret;

	memmove(unpack->data, unpack->data + unpack->at,
		unpack->used - unpack->at);
	unpack->used -= unpack->at;
	unpack->at = 0;
	out.at = unpack->used;
	ret = zstd.unpack(unpack->stream, &out, &in);
	if (zstd.is_error(ret))
		return broken(unpack, trouble, "a compressed record: %s",
			      zstd.text(ret));
	unpack->unpacked += out.at - unpack->used;
	if (unpack->unpacked > most)
		return broken(unpack, trouble, "a compressed record has more "
			      "than the %u bytes of perf's buffers", most);
	unpack->more = out.at == out.size;
	unpack->packed_at = in.at;
	unpack->used = out.at;
	return 0;
}

/* 0: not even its header is there. */
static size_t left_of_next(const struct unpack *unpack)
{
	size_t left = unpack->used - unpack->at;

	return left >= EVENT_HEADER_SIZE ? left : 0;
}

static size_t size_of_next(const struct unpack *unpack)
{
	return get_u16(unpack->data + unpack->at +
		       offsetof(struct perf_event_header, size));
}

/* Bytes that its header does not count follow it. */
static bool is_tracing_data(const uint8_t *event)
{
	return get_u32(event) == RECORD_HEADER_TRACING_DATA;
}

int unpack_next(struct unpack *unpack, const uint8_t **event,
		struct trouble *trouble)
{
	size_t left, size;
	int ret;

	while (!(left = left_of_next(unpack)) ||
	       (size = size_of_next(unpack)) > left) {
		if (!unpack->more && unpack->packed_at == unpack->packed_used)
			return 0;
		ret = unpack_more(unpack, trouble);
		if (ret)
			return ret;
	}
	if (size < EVENT_HEADER_SIZE)
		return broken(unpack, trouble, "a record of %zu bytes in a "
			      "compressed one", size);
	if (unpack_is_packed(unpack->data + unpack->at) ||
	    is_tracing_data(unpack->data + unpack->at))
		return broken(unpack, trouble,
			      "a record of type %u in a compressed one",
			      get_u32(unpack->data + unpack->at));
	*event = unpack->data + unpack->at;
	unpack->at += size;
	unpack->shift += size;
	return size;
}

bool unpack_has_rest(const struct unpack *unpack)
{
	return unpack->at < unpack->used;
}

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

static int append_input(struct round *round, struct input *input, uint64_t left,
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
	return append_input(round, input, left, length, trouble);
}

static int read_next_record(struct round *round, struct input *input,
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
	ret = append_input(round, input, left, EVENT_HEADER_SIZE, trouble);
	if (ret)
		return ret;
	event = round->data + *at;
	*size = get_u16(event + offsetof(struct perf_event_header, size));
	if (*size < EVENT_HEADER_SIZE)
		return trouble_damaged(trouble, offset,
				       "a record of %zu bytes", *size);
	ret = append_input(round, input, end - input->offset,
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
	int ret = read_next_record(round, input, end, at, size, trouble);

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
