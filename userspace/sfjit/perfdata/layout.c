// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Where a perf.data file has its parts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

/* Of perf before 3.2 the header had no features. */
#define HEADER_OLD	offsetof(struct file_header, features)

static uint64_t data_end(const struct layout *layout)
{
	return layout->header.data.offset + layout->header.data.size;
}

/* ---- The header ------------------------------------------------------- */

static bool is_section_inside(const struct file_section *section, uint64_t size)
{
	return section->offset <= size && section->size <= size -
						section->offset;
}

/* Neither among the events nor in the header. */
static bool is_apart(const struct layout *layout,
		     const struct file_section *section)
{
	return !section->size ||
	       (section->offset >= layout->header.size &&
		(section->offset >= data_end(layout) ||
		 section->offset + section->size <=
		 layout->header.data.offset));
}

/* It would end after the end of the file, but at an offset that files have. */
static bool is_cut(const struct file_section *section, uint64_t size)
{
	return !is_section_inside(section, size) &&
	       section->offset <= INT64_MAX &&
	       section->size <= INT64_MAX - section->offset;
}

static void shorten(struct layout *layout, const struct input *input)
{
	struct file_section *data = &layout->header.data;

	if (data->offset >= input->size)
		return;
	if (!data->size)
		layout->cut = LAYOUT_UNFINISHED;
	else if (is_cut(data, input->size))
		layout->cut = LAYOUT_CUT;
	if (layout->cut)
		data->size = input->size - data->offset;
}

static int check_data(struct layout *layout, const struct input *input,
		      struct trouble *trouble)
{
	const struct file_section *data = &layout->header.data;

	shorten(layout, input);
	if (!data->size)
		return trouble_refused(trouble, "no events, or perf record was "
				       "not ended properly");
	if (data->offset < layout->header.size ||
	    !is_section_inside(data, input->size))
		return trouble_damaged(trouble,
			offsetof(struct file_header, data),
			"events at 0x%llx, 0x%llx bytes, in a file of 0x%llx",
			(unsigned long long)data->offset,
			(unsigned long long)data->size,
			(unsigned long long)input->size);
	return 0;
}

static int check_attrs(const struct layout *layout, const struct input *input,
		       struct trouble *trouble)
{
	const struct file_header *header = &layout->header;
	uint64_t least = ATTR_LEAST + sizeof(struct file_section);

	if (header->attr_size < least ||
	    header->attr_size > ATTR_MOST + sizeof(struct file_section))
		return trouble_damaged(trouble,
			offsetof(struct file_header, attr_size),
			"attributes of 0x%llx bytes",
			(unsigned long long)header->attr_size);
	if (!is_section_inside(&header->attrs, input->size) ||
	    !is_apart(layout, &header->attrs) || !header->attrs.size ||
	    header->attrs.size % header->attr_size)
		return trouble_damaged(trouble,
			offsetof(struct file_header, attrs),
			"attributes at 0x%llx, 0x%llx bytes",
			(unsigned long long)header->attrs.offset,
			(unsigned long long)header->attrs.size);
	return 0;
}

static int read_file_header(struct layout *layout, struct input *input,
			    struct trouble *trouble)
{
	struct file_header *header = &layout->header;
	int ret = input_read_at(input, 0, header, HEADER_OLD, trouble);

	if (ret)
		return ret;
	if (header->size == HEADER_OLD)
		memset(header->features, 0, sizeof(header->features));
	else if (header->size != sizeof(*header))
		return trouble_damaged(trouble,
			offsetof(struct file_header, size),
			"a header of 0x%llx bytes",
			(unsigned long long)header->size);
	else
		ret = input_read_at(input, HEADER_OLD, header->features,
				    sizeof(header->features), trouble);
	if (!ret)
		ret = check_data(layout, input, trouble);
	return ret ? ret : check_attrs(layout, input, trouble);
}

/* ---- Attributes ------------------------------------------------------- */

static int read_ids(const struct layout *layout, struct input *input,
		    const struct file_section *ids, uint64_t offset,
		    struct attrs *attrs, struct trouble *trouble)
{
	uint8_t words[4096];
	uint64_t at, n;
	int ret = 0;

	if (!is_section_inside(ids, input->size) || !is_apart(layout, ids) ||
	    ids->size % 8)
		return trouble_damaged(trouble, offset,
			"ids at 0x%llx, 0x%llx bytes",
			(unsigned long long)ids->offset,
			(unsigned long long)ids->size);
	for (at = 0; at < ids->size && !ret; at += n) {
		n = ids->size - at;
		if (n > sizeof(words))
			n = sizeof(words);
		ret = input_read_at(input, ids->offset + at, words, n,
				    trouble);
		if (!ret)
			ret = attrs_add_ids(attrs, words, n / 8, trouble);
	}
	return ret;
}

static uint64_t attr_at(const struct layout *layout, size_t i)
{
	return layout->header.attrs.offset + i * layout->header.attr_size;
}

size_t layout_attr_size(const struct layout *layout)
{
	return layout->header.attr_size - sizeof(struct file_section);
}

/* Behind each is where its ids are. */
int layout_read_attr(const struct layout *layout, struct input *input,
		     size_t i, uint8_t *raw, struct file_section *ids,
		     struct trouble *trouble)
{
	size_t size = layout_attr_size(layout);
	uint64_t offset = attr_at(layout, i);
	int ret = input_read_at(input, offset, raw, size, trouble);

	if (!ret)
		ret = input_read_at(input, offset + size, ids, sizeof(*ids),
				    trouble);
	if (!ret && attr_size(raw) != size)
		ret = trouble_damaged(trouble, offset,
			"an attribute of %zu bytes among ones of %zu",
			attr_size(raw), size);
	return ret;
}

static int add_file_attr(const struct layout *layout, struct input *input,
			 size_t i, struct attrs *attrs, struct trouble *trouble)
{
	size_t size = layout_attr_size(layout);
	struct file_section ids;
	uint8_t raw[ATTR_MOST];
	int ret = layout_read_attr(layout, input, i, raw, &ids, trouble);

	if (!ret)
		ret = attrs_add(attrs, raw, size, attr_at(layout, i), trouble);
	return ret ? ret :
	       read_ids(layout, input, &ids, attr_at(layout, i) + size, attrs,
			trouble);
}

static int read_attrs(struct layout *layout, struct input *input,
		      struct attrs *attrs, struct trouble *trouble)
{
	size_t i;
	int ret = 0;

	layout->nr_attrs = layout->header.attrs.size /
			   layout->header.attr_size;
	for (i = 0; i < layout->nr_attrs && !ret; i++)
		ret = add_file_attr(layout, input, i, attrs, trouble);
	return ret;
}

/* ---- Features --------------------------------------------------------- */

unsigned int layout_next_feature(const struct layout *layout, unsigned int i)
{
	for (; i < FEATURE_BITS; i++)
		if (layout->header.features[i / 64] >> i % 64 & 1)
			break;
	return i;
}

/* A list after the events has their places, in the order of their numbers. */
static uint64_t section_at(const struct layout *layout, size_t i)
{
	return data_end(layout) + i * sizeof(struct file_section);
}

int layout_read_section(const struct layout *layout, struct input *input,
			size_t i, struct file_section *section,
			struct trouble *trouble)
{
	uint64_t at = section_at(layout, i);
	int ret = input_read_at(input, at, section, sizeof(*section), trouble);

	if (!ret && (!is_section_inside(section, input->size) ||
		     !is_apart(layout, section)))
		ret = trouble_damaged(trouble, at,
			"a section at 0x%llx, 0x%llx bytes",
			(unsigned long long)section->offset,
			(unsigned long long)section->size);
	return ret;
}

uint8_t *layout_read_contents(struct input *input,
			      const struct file_section *section,
			      struct trouble *trouble)
{
	uint8_t *data;

	if (section->size > FEATURE_MOST) {
		trouble_refused(trouble, "a section of 0x%llx bytes at 0x%llx",
				(unsigned long long)section->size,
				(unsigned long long)section->offset);
		return NULL;
	}
	data = malloc(section->size ? section->size : 1);
	if (!data) {
		trouble_failed(trouble, "sections", -ENOMEM);
	} else if (input_read_at(input, section->offset, data, section->size,
				 trouble)) {
		free(data);
		data = NULL;
	}
	return data;
}

static int read_file_feature(const struct layout *layout, struct input *input,
			     unsigned int feature, size_t i,
			     struct features *features, struct trouble *trouble)
{
	struct file_section section;
	uint8_t *data;
	int ret = features_refuse(feature, trouble);

	if (!ret)
		ret = layout_read_section(layout, input, i, &section, trouble);
	if (ret || !features_is_read(feature))
		return ret;
	data = layout_read_contents(input, &section, trouble);
	if (!data)
		return -EBADMSG;
	ret = features_read(features, feature, data, section.size,
			    section.offset, trouble);
	/* Before anything is written. */
	if (!ret)
		ret = features_convert(feature, data, section.size,
				       section.offset, trouble);
	free(data);
	return ret;
}

static bool is_missing(const struct layout *layout, struct input *input,
		       size_t i)
{
	const struct file_section entry = {
		section_at(layout, i), sizeof(entry)
	};
	struct file_section section;
	struct trouble ignored;

	return is_cut(&entry, input->size) ||
	       (!input_read_at(input, entry.offset, &section, sizeof(section),
			       &ignored) && is_cut(&section, input->size));
}

/* The file ends before the first of these. */
static int forget_features(struct layout *layout, unsigned int feature,
			   struct trouble *trouble)
{
	int ret = 0;

	if (!layout->cut)
		layout->cut = LAYOUT_CUT_AFTER;
	for (; feature < FEATURE_BITS && !ret;
	     feature = layout_next_feature(layout, feature + 1)) {
		ret = features_refuse(feature, trouble);
		layout->header.features[feature / 64] &=
			~(1ULL << feature % 64);
	}
	return ret;
}

static int read_features(struct layout *layout, struct input *input,
			 struct features *features, struct trouble *trouble)
{
	unsigned int feature = layout_next_feature(layout, 0);
	int ret = 0;

	for (; feature < FEATURE_BITS && !ret;
	     feature = layout_next_feature(layout, feature + 1)) {
		if (is_missing(layout, input, layout->nr_features))
			return forget_features(layout, feature, trouble);
		ret =
			read_file_feature(layout, input, feature,
					  layout->nr_features++, features,
					  trouble);
	}
	return ret;
}

int layout_read(struct layout *layout, struct input *input,
		struct attrs *attrs, struct features *features,
		struct trouble *trouble)
{
	int ret;

	*layout = (struct layout){ };
	ret = read_file_header(layout, input, trouble);
	if (!ret)
		ret = read_features(layout, input, features, trouble);
	if (!ret)
		ret = read_attrs(layout, input, attrs, trouble);
	input_seek(input, layout->header.data.offset);
	return ret;
}

/* ---- Output ----------------------------------------------------------- */

static int copy_range(struct input *input, uint64_t from, uint64_t to,
		      struct output *output, struct trouble *trouble)
{
	uint8_t bytes[16384];
	uint64_t n;
	int ret = 0;

	for (; from < to && !ret; from += n) {
		n = to - from < sizeof(bytes) ? to - from : sizeof(bytes);
		ret = input_read_at(input, from, bytes, n, trouble);
		if (!ret)
			ret = output_write(output, bytes, n, trouble);
	}
	return ret;
}

/* Until the end it is a file that was not ended properly. */
int layout_write(const struct layout *layout, struct input *input,
		 struct output *output, struct trouble *trouble)
{
	uint64_t none = 0;
	int ret = copy_range(input, 0, layout->header.data.offset, output,
			     trouble);

	return ret ? ret :
	       output_write_at(output, offsetof(struct file_header, data.size),
			       &none, sizeof(none), trouble);
}

/* The offset in the output of what the input has at another. */
struct move {
	const struct layout *layout;
	struct input *input;
	struct output *output;
	uint64_t by;		/* bytes after the events; it wraps */
};

static uint64_t moved(const struct move *move, uint64_t offset)
{
	return offset < data_end(move->layout) ? offset : offset + move->by;
}

static int write_moved(const struct move *move, uint64_t offset,
		       const void *from, size_t length,
		       struct trouble *trouble)
{
	return output_write_at(move->output, moved(move, offset), from, length,
			       trouble);
}

static int finish_header(const struct move *move, struct trouble *trouble)
{
	struct file_header header = move->layout->header;
	unsigned int i;

	for (i = 0; i < FEATURE_BITS; i++)
		if (!features_is_kept(i))
			header.features[i / 64] &= ~(1ULL << i % 64);
	header.attrs.offset = moved(move, header.attrs.offset);
	header.data.size += move->by;
	if (header.event_types.size)
		header.event_types.offset =
			moved(move, header.event_types.offset);
	return output_write_at(move->output, 0, &header, header.size, trouble);
}

static int finish_attr(const struct move *move, size_t i,
		       struct trouble *trouble)
{
	size_t size = layout_attr_size(move->layout);
	uint64_t offset = attr_at(move->layout, i);
	struct file_section ids;
	uint8_t raw[ATTR_MOST];
	int ret = layout_read_attr(move->layout, move->input, i, raw, &ids,
				   trouble);

	if (ret)
		return ret;
	attr_convert(raw, size);
	ids.offset = moved(move, ids.offset);
	ret = write_moved(move, offset, raw, size, trouble);
	return ret ? ret : write_moved(move, offset + size, &ids, sizeof(ids),
				       trouble);
}

static int finish_event_desc(const struct move *move,
			     const struct file_section *section,
			     struct trouble *trouble)
{
	uint8_t *data = layout_read_contents(move->input, section, trouble);
	int ret;

	if (!data)
		return -EBADMSG;
	ret = features_convert(FEATURE_EVENT_DESC, data, section->size,
			       section->offset, trouble);
	if (!ret)
		ret = write_moved(move, section->offset, data, section->size,
				  trouble);
	free(data);
	return ret;
}

/* @i: of the list that was read; @nr: of the one that is written. */
static int finish_feature(const struct move *move, unsigned int feature,
			  size_t i, size_t nr, struct trouble *trouble)
{
	struct file_section section, target;
	int ret = layout_read_section(move->layout, move->input, i, &section,
			       trouble);

	if (ret)
		return ret;
	target = section;
	target.offset = moved(move, section.offset);
	ret = write_moved(move, section_at(move->layout, nr), &target,
			  sizeof(target), trouble);
	if (!ret && feature == FEATURE_EVENT_DESC)
		ret = finish_event_desc(move, &section, trouble);
	return ret;
}

static int finish_features(const struct move *move, struct trouble *trouble)
{
	unsigned int feature = layout_next_feature(move->layout, 0);
	size_t i, nr = 0;
	int ret = 0;

	for (i = 0; feature < FEATURE_BITS && !ret; i++) {
		if (features_is_kept(feature))
			ret = finish_feature(move, feature, i, nr++, trouble);
		feature = layout_next_feature(move->layout, feature + 1);
	}
	return ret;
}

int layout_finish(const struct layout *layout, struct input *input,
		  struct output *output, struct trouble *trouble)
{
	struct move move = {
		layout, input, output, output->offset - data_end(layout)
	};
	size_t i;
	int ret = copy_range(input, data_end(layout), input->size, output,
			     trouble);

	for (i = 0; i < layout->nr_attrs && !ret; i++)
		ret = finish_attr(&move, i, trouble);
	if (!ret)
		ret = finish_features(&move, trouble);
	return ret ? ret : finish_header(&move, trouble);
}
