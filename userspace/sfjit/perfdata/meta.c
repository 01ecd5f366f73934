// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Records that perf itself makes. */
#include "bytes.h"
#include "format.h"
#include "meta.h"
#include "rounds.h"

void meta_free(struct meta *meta)
{
	attrs_free(&meta->attrs);
	features_free(&meta->features);
}

static int add_attr(struct attrs *attrs, const uint8_t *raw, size_t length,
		    size_t ids, uint64_t offset, struct trouble *trouble)
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
		ret = add_attr(&meta->attrs, raw, length, (left - length) / 8,
			       offset, trouble);
	attr_convert(raw, length);
	return ret;
}

static int read_feature(struct meta *meta, uint8_t *event, size_t size,
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
		return read_feature(meta, event, size, offset, trouble);
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
