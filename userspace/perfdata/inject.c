// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * From input to output. When a round has ended, what happened up to the end of
 * the one before it is told to the tracker, in the order of time, and then the
 * samples of that one are unwound: two rounds are in memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "cache.h"
#include "format.h"
#include "layout.h"
#include "meta.h"
#include "order.h"
#include "perfdata.h"
#include "pipe.h"
#include "rounds.h"
#include "track.h"
#include "unwind.h"

struct inject {
	const struct perfdata_options *options;
	struct perfdata_result *result;
	struct trouble *trouble;
	struct input input;
	struct output output;
	struct meta meta;
	struct track track;
	struct layout layout;
	uint64_t end;		/* of the events */
	struct round now, before;
	struct order order;	/* of what is not told yet */
	uint64_t latest;	/* time up to now */
	uint64_t latest_before;	/* up to the end of the round before */
	uint64_t first_sample;	/* of this round */
	uint64_t records;
	uint64_t said;		/* progress, up to there */
	struct frames frames;
	uint8_t sample[EVENT_MOST];
};

#define PROGRESS_BYTES	(4U << 20)

/* ---- Records that are read -------------------------------------------- */

static int begin_stacks(struct inject *inject)
{
	struct sfjit_stacks_options options = {
		.open = cache_open,
		.arg = (void *)inject->options->copies,
	};
	struct track *track = &inject->track;
	int ret;

	if (track->stacks)
		return 0;
	ret = sfjit_stacks_begin(&options, &track->stacks);
	if (ret)
		return trouble_failed(inject->trouble, "stacks", ret);
	track->features = &inject->meta.features;
	track->dumps = (struct jitdumps){
		.stacks = track->stacks,
		.monotonic = inject->meta.attrs.monotonic,
		.say = inject->options->say,
		.arg = inject->options->arg,
	};
	return 0;
}

static int find_attr(struct inject *inject, const uint8_t *event, size_t size,
		     uint64_t offset, const struct attr **attr)
{
	*attr = attrs_find(&inject->meta.attrs, event, size);
	return *attr ? 0 :
	       trouble_damaged(inject->trouble, offset,
			       "a record of an event that is not described");
}

/*
 * Without times in all records the order of the file is that of time. What has
 * none is of perf itself, and was so before all others.
 */
static uint64_t time_of(const struct inject *inject, const struct attr *attr,
			const uint8_t *event, size_t size, uint64_t record)
{
	return inject->meta.attrs.timed ? attr_time(attr, event, size) : record;
}

static int read_kernel_record(struct inject *inject, const uint8_t *event,
			      size_t size, uint64_t offset)
{
	const struct attr *attr;
	uint64_t time;
	int ret = find_attr(inject, event, size, offset, &attr);

	if (!ret)
		ret = begin_stacks(inject);
	if (ret)
		return ret;
	time = time_of(inject, attr, event, size, inject->records);
	if (time > inject->latest)
		inject->latest = time;
	if (get_u32(event) == PERF_RECORD_SAMPLE &&
	    time < inject->first_sample)
		inject->first_sample = time;
	if (!track_wants(&inject->track, attr, event))
		return 0;
	ret = order_add(&inject->order, time, offset);
	return ret ? trouble_failed(inject->trouble, "records", ret) : 0;
}

static int read_record(struct inject *inject, size_t at, size_t size)
{
	uint8_t *event = inject->now.data + at;
	uint64_t offset = inject->now.offset + at;

	inject->records++;
	if (get_u32(event) >= RECORD_HEADER_ATTR)
		return meta_read(&inject->meta, event, size, offset,
				 inject->trouble);
	return read_kernel_record(inject, event, size, offset);
}

/* ---- Samples ---------------------------------------------------------- */

static int convert(struct inject *inject, const struct attr *attr,
		   const uint8_t *event, size_t size, uint64_t time,
		   uint64_t offset)
{
	struct sample sample;
	int ret;

	if (sample_parse(attr, event, size, &sample))
		return trouble_damaged(inject->trouble, offset,
			"a sample of %zu bytes has less than its fields take",
			size);
	ret = unwind_sample(inject->track.stacks, attr, &sample, time,
			    &inject->frames);
	if (ret)
		return trouble_failed(inject->trouble, "stacks", ret);
	size = sample_rewrite(&sample, inject->frames.ips, inject->frames.nr,
			      inject->sample);
	if (!size)
		return trouble_damaged(inject->trouble, offset,
			"a sample without room for a call chain");
	inject->result->converted++;
	return output_write(&inject->output, inject->sample, size,
			    inject->trouble);
}

/* ---- Rounds ----------------------------------------------------------- */

/* 1: the round ends with it, or 0. */
static int read_one(struct inject *inject)
{
	struct round *round = &inject->now;
	size_t at, size;
	int ret;

	ret = round_read(round, &inject->input,
			 inject->end - inject->input.offset, &at, &size,
			 inject->trouble);
	if (!ret)
		ret = read_record(inject, at, size);
	if (ret)
		return ret;
	return get_u32(round->data + at) == RECORD_FINISHED_ROUND ||
	       round->used >= ROUND_MOST;
}

static void say_progress(struct inject *inject)
{
	const struct input *input = &inject->input;

	if (!inject->options->progress ||
	    input->offset - inject->said < PROGRESS_BYTES)
		return;
	inject->said = input->offset;
	inject->options->progress(inject->options->arg, input->offset,
				  input->seekable ? input->size : 0);
}

/* -ENODATA: that was the last one. */
static int read_round(struct inject *inject)
{
	int ret;

	inject->first_sample = UINT64_MAX;
	inject->latest_before = inject->latest;
	do {
		ret = read_one(inject);
		say_progress(inject);
	} while (!ret);
	return ret == 1 ? 0 : ret;
}

static size_t size_of(const uint8_t *event)
{
	return get_u16(event + offsetof(struct perf_event_header, size));
}

static const uint8_t *event_at(const struct inject *inject, uint64_t offset)
{
	const struct round *round = offset < inject->now.offset ?
				    &inject->before : &inject->now;

	return round->data + (offset - round->offset);
}

static int tell(struct inject *inject, const struct ordered *ordered)
{
	const uint8_t *event = event_at(inject, ordered->offset);
	size_t size = size_of(event);
	const struct attr *attr;
	/* Again: a pipe may have described more events since. */
	int ret = find_attr(inject, event, size, ordered->offset, &attr);

	return ret ? ret :
	       track_record(&inject->track, attr, event, size, ordered->time,
			    ordered->offset, inject->trouble);
}

/* What happened up to a time. */
static int tell_until(struct inject *inject, uint64_t until)
{
	struct ordered next;
	int ret = 0;

	order_sort(&inject->order);
	while (!ret && order_take(&inject->order, until, &next))
		ret = tell(inject, &next);
	if (ret)
		return ret;
	ret = jitdumps_read(&inject->track.dumps, until);
	return ret ? trouble_failed(inject->trouble, "jitdumps", ret) : 0;
}

/*
 * The records from @*at on that stay as they are, up to a sample that does not,
 * or the end.
 */
static int write_unchanged(struct inject *inject, size_t *at,
			   uint64_t *record, const struct attr **attr)
{
	const struct round *round = &inject->before;
	const uint8_t *event;
	size_t begin = *at, size;
	int ret;

	for (*attr = NULL; *at < round->used; ++*record) {
		event = round->data + *at;
		size = size_of(event);
		if (get_u32(event) == PERF_RECORD_SAMPLE) {
			ret = find_attr(inject, event, size,
					round->offset + *at, attr);
			if (ret)
				return ret;
			inject->result->samples++;
			if ((*attr)->convert)
				break;
			*attr = NULL;
		}
		*at += round_length(event, size);
	}
	return output_write(&inject->output, round->data + begin, *at - begin,
			    inject->trouble);
}

/* @record: the number of its first one. */
static int write_round(struct inject *inject, uint64_t record)
{
	const struct round *round = &inject->before;
	const struct attr *attr;
	const uint8_t *event;
	size_t at = 0, size;
	int ret = 0;

	while (at < round->used && !ret) {
		ret = write_unchanged(inject, &at, &record, &attr);
		if (ret || !attr)
			break;
		event = round->data + at;
		size = size_of(event);
		record++;
		ret = convert(inject, attr, event, size,
			      time_of(inject, attr, event, size, record),
			      round->offset + at);
		at += size;
	}
	return ret;
}

/* What is read next is later than that, as is what waits to be unwound. */
static void settle(struct inject *inject)
{
	uint64_t time = inject->latest_before < inject->first_sample ?
			inject->latest_before : inject->first_sample;

	if (inject->track.stacks)
		sfjit_stacks_settle(inject->track.stacks, time);
}

static void swap(struct inject *inject)
{
	struct round round = inject->before;

	inject->before = inject->now;
	inject->now = round;
	inject->now.used = 0;
	inject->now.offset = UINT64_MAX;
}

static int convert_events(struct inject *inject)
{
	uint64_t first = 0, first_before;
	int last, ret;

	do {
		first_before = first;
		first = inject->records;
		last = read_round(inject);
		if (last && last != -ENODATA)
			return last;
		ret = tell_until(inject, inject->latest_before);
		if (!ret)
			ret = write_round(inject, first_before);
		settle(inject);
		swap(inject);
	} while (!last && !ret);
	if (!ret)
		ret = tell_until(inject, UINT64_MAX);
	return ret ? ret : write_round(inject, first);
}

/* ---- Files ------------------------------------------------------------ */

static int convert_file(struct inject *inject)
{
	struct layout *layout = &inject->layout;
	struct output *output = &inject->output;
	struct input *input = &inject->input;
	/* Where a header could not be finished, there is none. */
	bool whole = output->seekable;
	int ret;

	if (!input->seekable)
		return trouble_refused(inject->trouble, "a perf.data file "
			"cannot be read from a pipe, only what perf writes to "
			"one");
	ret = layout_read(layout, input, &inject->meta.attrs,
			  &inject->meta.features, inject->trouble);
	if (ret)
		return ret;
	inject->end = layout->header.data.offset + layout->header.data.size;
	if (whole)
		ret = layout_write(layout, input, output, inject->trouble);
	else
		ret = pipe_write(layout, input, output, inject->trouble);
	if (!ret)
		ret = convert_events(inject);
	return ret || !whole ? ret :
	       layout_finish(layout, input, output, inject->trouble);
}

static int convert_pipe(struct inject *inject, const uint64_t *header)
{
	int ret;

	inject->meta.piped = true;
	inject->end = UINT64_MAX;
	ret = output_write(&inject->output, header, PIPE_HEADER_SIZE,
			   inject->trouble);
	return ret ? ret : convert_events(inject);
}

static int convert_any(struct inject *inject)
{
	uint64_t header[PIPE_HEADER_SIZE / 8];
	int ret = input_read(&inject->input, header, sizeof(header),
			     inject->trouble);

	if (!ret && header[0] == FILE_MAGIC_SWAPPED)
		return trouble_refused(inject->trouble, "recorded on a machine "
				       "of the other byte order");
	if (ret == -ENODATA || (!ret && header[0] != FILE_MAGIC))
		return trouble_refused(inject->trouble, "not a recording of "
				       "perf");
	if (ret)
		return ret;
	return header[1] == PIPE_HEADER_SIZE ? convert_pipe(inject, header) :
	       convert_file(inject);
}

static int run(struct inject *inject)
{
	const struct perfdata_options *options = inject->options;
	struct trouble *trouble = inject->trouble;
	int ret = input_begin(&inject->input, options->in, trouble);

	if (!ret)
		ret = output_begin(&inject->output, options->out, trouble);
	if (!ret)
		ret = convert_any(inject);
	if (!ret)
		ret = output_flush(&inject->output, trouble);
	inject->result->read = inject->input.offset;
	inject->result->written = inject->output.offset;
	if (inject->track.stacks)
		sfjit_stacks_stats(inject->track.stacks,
				   &inject->result->stacks);
	return ret;
}

static void release(struct inject *inject)
{
	jitdumps_free(&inject->track.dumps);
	sfjit_stacks_end(inject->track.stacks);
	round_free(&inject->now);
	round_free(&inject->before);
	order_free(&inject->order);
	meta_free(&inject->meta);
	input_end(&inject->input);
	output_end(&inject->output);
	free(inject);
}

int perfdata_inject(const struct perfdata_options *options,
		    struct perfdata_result *result, struct trouble *trouble)
{
	struct inject *inject = calloc(1, sizeof(*inject));
	int ret;

	*result = (struct perfdata_result){ };
	if (!inject)
		return trouble_failed(trouble, "inject", -ENOMEM);
	inject->options = options;
	inject->result = result;
	inject->trouble = trouble;
	ret = run(inject);
	release(inject);
	return ret;
}
