// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The features of a perf.data file, as records of a pipe. */
#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "pipe.h"

static int write_header(struct output *output, uint32_t type, size_t size,
			struct trouble *trouble)
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

static int write_attr(const struct layout *layout, struct input *input,
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
	ret = write_header(output, RECORD_HEADER_ATTR,
			   EVENT_HEADER_SIZE + size + ids.size, trouble);
	if (!ret)
		ret = output_write(output, raw, size, trouble);
	return ret ? ret : write_ids(input, &ids, output, trouble);
}

/* ---- Features --------------------------------------------------------- */

/* They are records in the file, too, but need not say so. */
static int write_build_ids(uint8_t *data, const struct file_section *section,
			   struct output *output, struct trouble *trouble)
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
	int ret = write_header(output, RECORD_HEADER_TRACING_DATA,
			       EVENT_HEADER_SIZE + sizeof(padded), trouble);

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
	ret = write_header(output, RECORD_HEADER_FEATURE, length, trouble);
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
		return write_build_ids(data, section, output, trouble);
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
		ret = write_attr(layout, input, i, output, trouble);
	return ret ? ret : write_features(layout, input, output, trouble);
}
