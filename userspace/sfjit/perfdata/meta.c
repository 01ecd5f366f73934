// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Records that perf itself makes. */
#include <errno.h>
#include <stdlib.h>

#include "format.h"
#include "meta.h"
#include "rounds.h"

/* From cycles to times of perf. */

/* Of perf since 5.10; before it ended with the third. */
struct time_conv {
	struct perf_event_header header;
	uint64_t shift, mult, zero, last, mask;
	uint8_t has_zero, is_short, reserved[6];
};

void cycles_read(struct cycles *cycles, const uint8_t *event, size_t size)
{
	struct time_conv conv = { };

	if (size < offsetof(struct time_conv, last))
		return;
	memcpy(&conv, event, size < sizeof(conv) ? size : sizeof(conv));
	if (conv.shift >= 64 || !conv.mult)
		return;
	*cycles = (struct cycles){
		.shift = conv.shift, .mult = conv.mult, .zero = conv.zero,
		.last = conv.is_short ? conv.last : 0,
		.mask = conv.is_short ? conv.mask : UINT64_MAX,
		.known = true,
	};
}

/*
 * The formula for time_zero and time_mask in <linux/perf_event.h>. Input is
 * hostile: it may wrap.
 */
uint64_t cycles_time(const struct cycles *cycles, uint64_t value)
{
	uint64_t whole, part;

	value = cycles->last + ((value - cycles->last) & cycles->mask);
	whole = value >> cycles->shift;
	part = value & ((1ULL << cycles->shift) - 1);
	return cycles->zero + whole * cycles->mult +
	       (part * cycles->mult >> cycles->shift);
}

/* ---- Read ---------------------------------------------------------------- */

void meta_free(struct meta *meta)
{
	attrs_free(&meta->attrs);
	features_free(&meta->features);
}

static int add_piped_attr(struct attrs *attrs, const uint8_t *raw,
			  size_t length, size_t ids, uint64_t offset,
			  struct trouble *trouble)
{
	int ret = attrs_add(attrs, raw, length, offset, trouble);

	return ret ? ret : attrs_add_ids(attrs, raw + length, ids, trouble);
}

static int read_attr(struct meta *meta, uint8_t *event, size_t size,
		     uint64_t offset, struct trouble *trouble)
{
	uint8_t *raw = event + EVENT_HEADER_SIZE;
	size_t left = size - EVENT_HEADER_SIZE, length;
	int ret = 0;

	length = left < ATTR_LEAST ? 0 : attr_size(raw);
	if (length < ATTR_LEAST || length > left || length > ATTR_MOST ||
	    (left - length) % 8)
		return trouble_damaged(trouble, offset,
			"an attribute of %zu bytes in a record of %zu", length,
			size);
	if (meta->piped)
		ret =
			add_piped_attr(&meta->attrs, raw, length,
				       (left - length) / 8, offset, trouble);
	attr_convert(raw, length);
	return ret;
}

static int read_piped_feature(struct meta *meta, uint8_t *event, size_t size,
			      uint64_t offset, struct trouble *trouble)
{
	size_t begin = EVENT_HEADER_SIZE + 8;
	uint64_t feature;
	int ret;

	if (size < begin)
		return trouble_damaged(trouble, offset,
				       "a feature of %zu bytes", size);
	feature = get_u64(event + EVENT_HEADER_SIZE);
	/* An empty one says that there are no more. */
	if (size == begin || feature >= FEATURE_BITS)
		return 0;
	event += begin;
	size -= begin;
	offset += begin;
	ret = features_refuse(feature, trouble);
	if (!ret)
		ret = features_read(&meta->features, feature, event, size,
				    offset, trouble);
	return ret ? ret :
	       features_convert(feature, event, size, offset, trouble);
}

int meta_read(struct meta *meta, uint8_t *event, size_t size, uint64_t offset,
	      struct trouble *trouble)
{
	switch (get_u32(event)) {
	case RECORD_HEADER_ATTR:
		return read_attr(meta, event, size, offset, trouble);
	case RECORD_HEADER_FEATURE:
		return read_piped_feature(meta, event, size, offset, trouble);
	case RECORD_HEADER_TRACING_DATA:
		return features_read(&meta->features, FEATURE_TRACING_DATA,
				     event + size,
				     round_length(event, size) - size,
				     offset + size, trouble);
	case RECORD_HEADER_BUILD_ID:
		return features_add_build_id(&meta->features, event, size,
					     offset, trouble);
	case RECORD_TIME_CONV:
		cycles_read(&meta->cycles, event, size);
		return 0;
	case RECORD_AUXTRACE_INFO:
	case RECORD_AUXTRACE:
		return features_refuse(FEATURE_AUXTRACE, trouble);
	default:
		return 0;
	}
}

bool meta_is_dropped(const uint8_t *event, size_t size)
{
	uint64_t feature;

	/* An empty one ends the list; its number is the version's next one. */
	if (get_u32(event) != RECORD_HEADER_FEATURE ||
	    size <= EVENT_HEADER_SIZE + 8)
		return false;
	feature = get_u64(event + EVENT_HEADER_SIZE);
	return feature < FEATURE_BITS && !features_is_kept(feature);
}

/* The features of a perf.data file, as records of a pipe. */

static int write_record_header(struct output *output, uint32_t type,
			       size_t size, struct trouble *trouble)
{
	struct perf_event_header header = { .type = type, .size = size };

	return output_write(output, &header, sizeof(header), trouble);
}

/* ---- Attributes ------------------------------------------------------- */

static int write_ids(struct input *input, const struct file_section *ids,
		     struct output *output, struct trouble *trouble)
{
	uint8_t words[EVENT_MOST];
	int ret = input_read_at(input, ids->offset, words, ids->size, trouble);

	return ret ? ret : output_write(output, words, ids->size, trouble);
}

static int write_piped_attr(const struct layout *layout, struct input *input,
			    size_t i, struct output *output,
			    struct trouble *trouble)
{
	size_t size = layout_attr_size(layout);
	size_t room = EVENT_MOST - EVENT_HEADER_SIZE - size;
	struct file_section ids;
	uint8_t raw[ATTR_MOST];
	int ret = layout_read_attr(layout, input, i, raw, &ids, trouble);

	if (!ret && ids.size > room)
		ret = trouble_refused(trouble, "an event with %llu ids, which "
			"has no room in a pipe",
			(unsigned long long)ids.size / 8);
	if (ret)
		return ret;
	attr_convert(raw, size);
	ret = write_record_header(output, RECORD_HEADER_ATTR,
				  EVENT_HEADER_SIZE + size + ids.size, trouble);
	if (!ret)
		ret = output_write(output, raw, size, trouble);
	return ret ? ret : write_ids(input, &ids, output, trouble);
}

/* ---- Features --------------------------------------------------------- */

/* They are records in the file, too, but need not say so. */
static int write_build_id_records(uint8_t *data,
				  const struct file_section *section,
				  struct output *output,
				  struct trouble *trouble)
{
	size_t at, length, size = section->size;

	for (at = 0; at < size; at += length) {
		length = features_build_id_length(data + at, size - at);
		if (!length)
			return trouble_damaged(trouble, section->offset + at,
					       "a build-id of no length");
		put_u32(data + at, RECORD_HEADER_BUILD_ID);
	}
	return output_write(output, data, size, trouble);
}

/* It follows its record, at a multiple of 8 bytes. */
static int write_tracing_data(const uint8_t *data, size_t size,
			      struct output *output, struct trouble *trouble)
{
	static const uint8_t zeros[8];
	uint32_t padded = (size + 7) & ~(size_t)7;
	int ret =
		write_record_header(output, RECORD_HEADER_TRACING_DATA,
				    EVENT_HEADER_SIZE + sizeof(padded),
				    trouble);

	if (!ret)
		ret = output_write(output, &padded, sizeof(padded), trouble);
	if (!ret)
		ret = output_write(output, data, size, trouble);
	return ret ? ret : output_write(output, zeros, padded - size, trouble);
}

static int write_other(unsigned int feature, const uint8_t *data, size_t size,
		       struct output *output, struct trouble *trouble)
{
	uint64_t number = feature;
	size_t length = EVENT_HEADER_SIZE + sizeof(number) + size;
	int ret;

	/* An empty one would be the last. */
	if (!size || length > EVENT_MOST)
		return 0;
	ret =
		write_record_header(output, RECORD_HEADER_FEATURE, length,
				    trouble);
	if (!ret)
		ret = output_write(output, &number, sizeof(number), trouble);
	return ret ? ret : output_write(output, data, size, trouble);
}

static int write_contents(unsigned int feature, uint8_t *data,
			  const struct file_section *section,
			  struct output *output, struct trouble *trouble)
{
	size_t size = section->size;
	int ret = features_convert(feature, data, size, section->offset,
				   trouble);

	if (ret)
		return ret;
	if (feature == FEATURE_BUILD_ID)
		return write_build_id_records(data, section, output, trouble);
	if (feature == FEATURE_TRACING_DATA)
		return write_tracing_data(data, size, output, trouble);
	return write_other(feature, data, size, output, trouble);
}

static int write_feature(const struct layout *layout, struct input *input,
			 unsigned int feature, size_t i,
			 struct output *output, struct trouble *trouble)
{
	struct file_section section;
	uint8_t *data;
	int ret = layout_read_section(layout, input, i, &section, trouble);

	if (ret)
		return ret;
	data = layout_read_contents(input, &section, trouble);
	if (!data)
		return -EBADMSG;
	ret = write_contents(feature, data, &section, output, trouble);
	free(data);
	return ret;
}

static int write_features(const struct layout *layout, struct input *input,
			  struct output *output, struct trouble *trouble)
{
	unsigned int feature = layout_next_feature(layout, 0);
	size_t i;
	int ret = 0;

	for (i = 0; feature < FEATURE_BITS && !ret; i++) {
		if (features_is_kept(feature))
			ret = write_feature(layout, input, feature, i, output,
					    trouble);
		feature = layout_next_feature(layout, feature + 1);
	}
	return ret;
}

int pipe_write(const struct layout *layout, struct input *input,
	       struct output *output, struct trouble *trouble)
{
	const uint64_t header[] = { FILE_MAGIC, PIPE_HEADER_SIZE };
	size_t i;
	int ret = output_write(output, header, sizeof(header), trouble);

	for (i = 0; i < layout->nr_attrs && !ret; i++)
		ret = write_piped_attr(layout, input, i, output, trouble);
	return ret ? ret : write_features(layout, input, output, trouble);
}
