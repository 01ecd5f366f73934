// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <grow.h>
#include <stdlib.h>

#include "attr.h"
#include "format.h"
#include "regular.h"

void regular_free(struct regular *regular)
{
	size_t i;

	for (i = 0; i < regular->nr; i++) {
		free(regular->attrs[i].raw.data);
		free(regular->attrs[i].ids.data);
	}
	free(regular->attrs);
	for (i = 0; i < FEATURE_BITS; i++)
		free(regular->sections[i].data);
}

/* ---- Records that become sections --------------------------------------- */

static int append_to_section(struct regular_bytes *bytes, const uint8_t *from,
			     size_t length, struct trouble *trouble)
{
	size_t room = bytes->room ? bytes->room : 256;
	uint8_t *grown;

	while (room - bytes->used < length)
		room *= 2;
	if (room != bytes->room) {
		grown = realloc(bytes->data, room);
		if (!grown)
			return trouble_failed(trouble, "sections", -ENOMEM);
		bytes->data = grown;
		bytes->room = room;
	}
	memcpy(bytes->data + bytes->used, from, length);
	bytes->used += length;
	return 0;
}

static int keep_attr(struct regular *regular, const uint8_t *event,
		     size_t length, struct trouble *trouble)
{
	const uint8_t *raw = event + EVENT_HEADER_SIZE;
	size_t size = attr_size(raw), ids = EVENT_HEADER_SIZE + size;
	struct regular_attr *attrs;
	int ret;

	if (!grow_array(&regular->attrs, &regular->max, regular->nr,
			sizeof(*regular->attrs)))
		return trouble_failed(trouble, "attributes", -ENOMEM);
	attrs = &regular->attrs[regular->nr++];
	*attrs = (struct regular_attr){ };
	ret = append_to_section(&attrs->raw, raw, size, trouble);
	return ret ? ret :
	       append_to_section(&attrs->ids, event + ids, length - ids,
				 trouble);
}

static int keep_section(struct regular *regular, uint64_t feature,
			const uint8_t *from, size_t length,
			struct trouble *trouble)
{
	/* An empty one, of a version's own number, ends their list. */
	if (feature >= FEATURE_BITS || !length)
		return 0;
	if (feature != FEATURE_BUILD_ID)
		regular->sections[feature].used = 0;
	return append_to_section(&regular->sections[feature], from, length,
				 trouble);
}

/* ---- Before the records ------------------------------------------------- */

/* Those of one version of perf have one size. */
static size_t largest_attr(const struct regular *regular)
{
	size_t i, most = ATTR_LEAST;

	for (i = 0; i < regular->nr; i++)
		if (regular->attrs[i].raw.used > most)
			most = regular->attrs[i].raw.used;
	return most;
}

static int write_regular_attr(const struct regular_attr *attr, size_t size,
			      struct file_section *ids, struct output *output,
			      struct trouble *trouble)
{
	uint8_t raw[ATTR_MOST] = { };
	int ret;

	memcpy(raw, attr->raw.data, attr->raw.used);
	put_u32(raw + offsetof(struct perf_event_attr, size), size);
	ids->size = attr->ids.used;
	ret = output_write(output, raw, size, trouble);
	if (!ret)
		ret = output_write(output, ids, sizeof(*ids), trouble);
	ids->offset += ids->size;
	return ret;
}

static int write_attrs(struct regular *regular, struct file_header *header,
		       struct output *output, struct trouble *trouble)
{
	struct file_section ids = { .offset = output->offset };
	size_t i, size = largest_attr(regular);
	int ret = 0;

	for (i = 0; i < regular->nr && !ret; i++)
		ret = output_write(output, regular->attrs[i].ids.data,
				   regular->attrs[i].ids.used, trouble);
	header->attrs.offset = output->offset;
	for (i = 0; i < regular->nr && !ret; i++)
		ret = write_regular_attr(&regular->attrs[i], size, &ids, output,
					 trouble);
	header->attrs.size = output->offset - header->attrs.offset;
	header->attr_size = size + sizeof(ids);
	regular->nr_written = regular->nr;
	return ret;
}

/* The header knows the attributes, but not yet how many bytes of records. */
static int begin_regular(struct regular *regular, struct output *output,
			 struct trouble *trouble)
{
	struct file_header *header = &regular->header;
	int ret;

	regular->begun = true;
	*header = (struct file_header){
		.magic = FILE_MAGIC, .size = sizeof(*header),
	};
	ret = output_write(output, header, sizeof(*header), trouble);
	if (!ret)
		ret = write_attrs(regular, header, output, trouble);
	header->data.offset = output->offset;
	return ret ? ret : output_write_at(output, 0, header, sizeof(*header),
					   trouble);
}

/* ---- Records ------------------------------------------------------------ */

/*
 * If this program is killed, the file is a recording up to the last record
 * that was flushed.
 */
static int update_header(struct regular *regular, struct output *output,
			 struct trouble *trouble)
{
	struct file_header *header = &regular->header;
	int ret;

	if (output->whole <= header->data.offset + header->data.size)
		return 0;
	ret = output_flush(output, trouble);
	header->data.size = output->whole - header->data.offset;
	return ret ? ret : output_write_at(output, 0, header, sizeof(*header),
					   trouble);
}

static int write_record(struct regular *regular, struct output *output,
			const uint8_t *event, size_t length,
			struct trouble *trouble)
{
	int ret = regular->begun ? 0 : begin_regular(regular, output, trouble);

	if (!ret)
		ret = output_write(output, event, length, trouble);
	if (ret)
		return ret;
	output_mark(output);
	return update_header(regular, output, trouble);
}

int regular_write(struct regular *regular, struct output *output,
		  const uint8_t *event, size_t length, struct trouble *trouble)
{
	size_t size = get_u16(event + offsetof(struct perf_event_header, size));
	size_t feature = EVENT_HEADER_SIZE + 8;

	switch (get_u32(event)) {
	case RECORD_HEADER_ATTR:
		return keep_attr(regular, event, length, trouble);
	case RECORD_HEADER_FEATURE:
		return keep_section(regular, get_u64(event + EVENT_HEADER_SIZE),
				    event + feature, length - feature, trouble);
	case RECORD_HEADER_TRACING_DATA:
		return keep_section(regular, FEATURE_TRACING_DATA,
				    event + size, length - size, trouble);
	case RECORD_HEADER_BUILD_ID:
		return keep_section(regular, FEATURE_BUILD_ID, event, length,
				    trouble);
	default:
		return write_record(regular, output, event, length, trouble);
	}
}

/* ---- After the records -------------------------------------------------- */

static int write_index(struct regular *regular, struct file_header *header,
		       struct output *output, struct trouble *trouble)
{
	struct file_section section = { .offset = output->offset };
	size_t i;
	int ret = 0;

	for (i = 0; i < FEATURE_BITS; i++)
		if (regular->sections[i].used)
			section.offset += sizeof(section);
	for (i = 0; i < FEATURE_BITS && !ret; i++) {
		section.size = regular->sections[i].used;
		if (!section.size)
			continue;
		header->features[i / 64] |= 1ULL << i % 64;
		ret = output_write(output, &section, sizeof(section), trouble);
		section.offset += section.size;
	}
	return ret;
}

/* perf knows them at the end, and has written zeros to the pipe. */
static void fill_times(struct regular *regular)
{
	struct regular_bytes *times = &regular->sections[FEATURE_SAMPLE_TIME];

	if (times->used >= sizeof(regular->times))
		memcpy(times->data, regular->times, sizeof(regular->times));
}

int regular_finish(struct regular *regular, struct output *output,
		   struct trouble *trouble)
{
	int ret = regular->begun ? 0 : begin_regular(regular, output, trouble);
	struct file_header header = regular->header;
	size_t i;

	header.data.size = output->offset - header.data.offset;
	fill_times(regular);
	if (!ret)
		ret = write_index(regular, &header, output, trouble);
	for (i = 0; i < FEATURE_BITS && !ret; i++)
		ret = output_write(output, regular->sections[i].data,
				   regular->sections[i].used, trouble);
	if (!ret && regular->nr != regular->nr_written)
		ret = write_attrs(regular, &header, output, trouble);
	return ret ? ret : output_write_at(output, 0, &header, sizeof(header),
					   trouble);
}

/* The header is there already: this needs no room. */
uint64_t regular_keep(struct regular *regular, struct output *output)
{
	struct file_header *header = &regular->header;
	uint64_t kept = output_keep(output);
	struct trouble ignored;

	if (!kept)
		return 0;
	output->used = 0;
	header->data.size = kept - header->data.offset;
	return output_write_at(output, 0, header, sizeof(*header), &ignored) ?
	       0 : kept;
}
