// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * When a round has ended, what happened up to the end of the one before it is
 * told to the tracker, in the order of time, and then the records of that one
 * are passed on: two rounds are in memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "format.h"
#include "reader.h"

#define PROGRESS_BYTES	(4U << 20)
/* In one record. */
#define LOST_MOST	UINT32_MAX
#define HEX_MOST	(2 * SFJIT_STACKS_BUILD_ID_MAX + 1)

/* ---- Files of a recording ---------------------------------------------- */

static void to_hex(const struct sfjit_stacks_mapping *mapping,
		   char hex[HEX_MOST])
{
	int i;

	for (i = 0; i < mapping->build_id_length; i++)
		sprintf(hex + 2 * i, "%02x", mapping->build_id[i]);
}

/* A copy has its name from a build-id, which it need not have. */
static int open_copy(const char *dir,
		     const struct sfjit_stacks_mapping *mapping)
{
	struct sfjit_stacks_mapping copy = *mapping;
	char hex[HEX_MOST] = "", path[PATH_MAX];

	to_hex(mapping, hex);
	if (snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s/elf", dir, hex,
		     hex + 2) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	copy.path = path;
	copy.inode = 0;
	return sfjit_stacks_open(0, &copy);
}

/*
 * For struct sfjit_stacks_options. The argument is struct perfdata_options.
 * Opens the file, or the copy that perf record keeps by its build-id.
 */
static int open_file_or_copy(void *arg, pid_t pid,
			     const struct sfjit_stacks_mapping *mapping)
{
	const struct perfdata_options *options = arg;
	const struct perfdata_files *files = options->files;
	int fd = options->root ?
		 sfjit_stacks_open_below(options->root, mapping) :
		 sfjit_stacks_open(pid, mapping);

	if (fd >= 0 && files)
		files->opened(files->arg, pid, mapping, fd);
	if (fd >= 0 || fd == -ESTALE || !options->copies ||
	    !mapping->build_id_length)
		return fd;
	return open_copy(options->copies, mapping);
}

/* ---- Records that are read -------------------------------------------- */

static int begin_stacks(struct reader *reader)
{
	struct sfjit_stacks_options options = {
		.open = open_file_or_copy,
		.arg = (void *)reader->options,
		.live = reader->options->live,
	};
	struct track *track = &reader->track;
	int ret;

	if (track->stacks)
		return 0;
	ret = sfjit_stacks_begin(&options, &track->stacks);
	if (ret)
		return trouble_failed(reader->trouble, "stacks", ret);
	track->features = &reader->meta.features;
	track->files = reader->options->files;
	track->launcher = reader->options->launcher;
	track->dumps = (struct jitdumps){
		.stacks = track->stacks,
		.monotonic = reader->meta.attrs.monotonic,
		.cycles = reader->meta.attrs.own_clock ?
			  &reader->meta.cycles : NULL,
		.say = reader->options->say,
		.arg = reader->options->arg,
	};
	return 0;
}

static int find_attr(struct reader *reader, const uint8_t *event, size_t size,
		     uint64_t offset, const struct attr **attr)
{
	*attr = attrs_find(&reader->meta.attrs, event, size);
	return *attr ? 0 :
	       trouble_damaged(reader->trouble, offset,
			       "a record of an event that is not described");
}

/*
 * Unless all records have times, take the order of the file. Records without a
 * time are perf's own, and precede all others.
 */
static uint64_t event_time(const struct reader *reader, const struct attr *attr,
			   const uint8_t *event, size_t size, uint64_t record)
{
	return reader->meta.attrs.timed ? attr_time(attr, event, size) : record;
}

static int read_kernel_record(struct reader *reader, const uint8_t *event,
			      size_t size, uint64_t offset)
{
	const struct attr *attr;
	uint64_t time;
	int ret = find_attr(reader, event, size, offset, &attr);

	if (!ret)
		ret = begin_stacks(reader);
	if (ret)
		return ret;
	time = event_time(reader, attr, event, size, reader->records);
	if (time > reader->latest)
		reader->latest = time;
	if (get_u32(event) == PERF_RECORD_SAMPLE &&
	    time < reader->first_sample)
		reader->first_sample = time;
	if (!track_wants(&reader->track, attr, event))
		return 0;
	ret = order_add(&reader->order, time, offset);
	return ret ? trouble_failed(reader->trouble, "records", ret) : 0;
}

/*
 * PERF_RECORD_LOST has the number after the event's id. perf asks each event at
 * the end how many it has lost, and writes PERF_RECORD_LOST_SAMPLES.
 */
static void count_lost(struct reader *reader, const uint8_t *event, size_t size)
{
	bool by_perf = get_u32(event) == PERF_RECORD_LOST_SAMPLES;
	size_t at = EVENT_HEADER_SIZE + (by_perf ? 0 : 8);

	if (size >= at + 8 && get_u64(event + at) <= LOST_MOST)
		reader->lost[by_perf] += get_u64(event + at);
}

uint64_t reader_lost(const struct reader *reader)
{
	const uint64_t *lost = reader->lost;

	return lost[0] > lost[1] ? lost[0] : lost[1];
}

static int handle_record(struct reader *reader, size_t at, size_t size)
{
	uint8_t *event = reader->now.data + at;
	uint64_t offset = reader->now.offset + at;

	reader->records++;
	if (get_u32(event) == PERF_RECORD_LOST ||
	    get_u32(event) == PERF_RECORD_LOST_SAMPLES)
		count_lost(reader, event, size);
	if (get_u32(event) >= RECORD_HEADER_ATTR)
		return meta_read(&reader->meta, event, size, offset,
				 reader->trouble);
	return read_kernel_record(reader, event, size, offset);
}

/* ---- Rounds ----------------------------------------------------------- */

/* 1: the round ends with it, or 0. */
static int read_one(struct reader *reader)
{
	struct round *round = &reader->now;
	size_t at = round->used, size;
	int ret;

	reader->unpack.most = reader->meta.features.unpacked_most;
	ret = round_read(round, &reader->input,
			 reader->end - reader->input.offset, &reader->unpack,
			 &at, &size, reader->trouble);
	if (!ret)
		ret = handle_record(reader, at, size);
	if (!ret && meta_is_dropped(round->data + at, size)) {
		reader->unpack.shift -= size;
		round->used = at;
		return 0;
	}
	if (ret) {
		round->used = at;
		return ret;
	}
	return get_u32(round->data + at) == RECORD_FINISHED_ROUND ||
	       round->used >= ROUND_MOST;
}

static void say_bytes_read(struct reader *reader)
{
	const struct input *input = &reader->input;

	if (!reader->options->progress ||
	    input->offset - reader->said < PROGRESS_BYTES)
		return;
	reader->said = input->offset;
	reader->options->progress(reader->options->arg, input->offset,
				  input->seekable ? input->size : 0);
}

static void say_line(const struct reader *reader, const char *line)
{
	reader->options->say(reader->options->arg, line);
}

/* The file's length has been said already. */
static void say_cut(const struct reader *reader)
{
	char line[120];

	if (!reader->now.cut || reader->layout.cut)
		return;
	snprintf(line, sizeof(line), "the recording is cut off at offset "
		 "0x%" PRIx64 ": what comes before is used",
		 reader->input.offset);
	say_line(reader, line);
}

/* Nothing after it can be unpacked. */
static void say_broken(struct reader *reader)
{
	char line[sizeof(reader->trouble->text) + 40];

	snprintf(line, sizeof(line), "%s: what comes before is used",
		 reader->trouble->text);
	reader->trouble->text[0] = '\0';
	say_line(reader, line);
}

/* -ENODATA: that was the last one. */
static int read_round(struct reader *reader)
{
	int ret;

	reader->first_sample = UINT64_MAX;
	reader->latest_before = reader->latest;
	do {
		ret = read_one(reader);
		say_bytes_read(reader);
	} while (!ret);
	if (ret == -EBADMSG && reader->unpack.broken) {
		say_broken(reader);
		return -ENODATA;
	}
	if (ret == -ENODATA)
		say_cut(reader);
	return ret == 1 ? 0 : ret;
}

static size_t event_size(const uint8_t *event)
{
	return get_u16(event + offsetof(struct perf_event_header, size));
}

static uint8_t *event_at(const struct reader *reader, uint64_t offset)
{
	const struct round *round = offset < reader->now.offset ?
				    &reader->before : &reader->now;

	return round->data + (offset - round->offset);
}

static int tell_tracker(struct reader *reader, const struct ordered *ordered)
{
	uint8_t *event = event_at(reader, ordered->offset);
	size_t size = event_size(event);
	const struct attr *attr;
	/* Again: a pipe may have described more events since. */
	int ret = find_attr(reader, event, size, ordered->offset, &attr);

	return ret ? ret :
	       track_record(&reader->track, attr, event, size, ordered->time,
			    ordered->offset, reader->trouble);
}

/* What happened up to a time. */
static int tell_until(struct reader *reader, uint64_t until)
{
	struct ordered next;
	int ret = 0;

	order_sort(&reader->order);
	while (!ret && order_take(&reader->order, until, &next))
		ret = tell_tracker(reader, &next);
	if (ret)
		return ret;
	ret = jitdumps_read(&reader->track.dumps, until);
	if (ret)
		return trouble_failed(reader->trouble, "jitdumps", ret);
	return reader->told ? reader->told(reader->arg) : 0;
}

static int pass_on(struct reader *reader, const uint8_t *bytes,
		   uint64_t number, uint64_t offset, size_t *length)
{
	struct event event = {
		.bytes = bytes, .size = event_size(bytes), .offset = offset,
	};
	int ret = 0;

	input_forget(&reader->input);
	event.length = *length = round_length(bytes, event.size);
	if (get_u32(bytes) == PERF_RECORD_SAMPLE)
		ret = find_attr(reader, bytes, event.size, offset,
				&event.attr);
	else if (get_u32(bytes) < RECORD_HEADER_ATTR)
		event.attr = attrs_find(&reader->meta.attrs, bytes,
					event.size);
	if (ret)
		return ret;
	if (event.attr)
		event.time = event_time(reader, event.attr, bytes, event.size,
					number);
	return reader->take(reader->arg, &event);
}

/* @number: of the record before its first one. */
static int pass_round(struct reader *reader, uint64_t number)
{
	const struct round *round = &reader->before;
	size_t at, length;
	int ret = 0;

	for (at = 0; at < round->used && !ret; at += length)
		ret = pass_on(reader, round->data + at, ++number,
			      round->offset + at, &length);
	return ret;
}

/* Later records, and samples that wait, are after that time. */
static void settle_stacks(struct reader *reader)
{
	uint64_t time = reader->latest_before < reader->first_sample ?
			reader->latest_before : reader->first_sample;

	if (reader->waits < time)
		time = reader->waits;
	if (reader->track.stacks)
		sfjit_stacks_settle(reader->track.stacks, time);
}

static void swap_rounds(struct reader *reader)
{
	struct round round = reader->before;

	reader->before = reader->now;
	reader->now = round;
	reader->now.used = 0;
	reader->now.offset = UINT64_MAX;
}

/* Keep the records read before the error. */
static void pass_rest(struct reader *reader, uint64_t first_before,
		      uint64_t first)
{
	struct trouble trouble = *reader->trouble;

	/* The whole input is unchanged. */
	if (reader->input.keep)
		return;
	if (!tell_until(reader, reader->latest_before) &&
	    !pass_round(reader, first_before)) {
		swap_rounds(reader);
		if (!tell_until(reader, UINT64_MAX))
			pass_round(reader, first);
	}
	*reader->trouble = trouble;
}

static int read_rounds(struct reader *reader)
{
	uint64_t first = 0, first_before;
	int last, ret;

	do {
		first_before = first;
		first = reader->records;
		last = read_round(reader);
		if (last && last != -ENODATA) {
			pass_rest(reader, first_before, first);
			return last;
		}
		ret = tell_until(reader, reader->latest_before);
		if (!ret)
			ret = pass_round(reader, first_before);
		settle_stacks(reader);
		swap_rounds(reader);
	} while (!last && !ret);
	if (!ret)
		ret = tell_until(reader, UINT64_MAX);
	return ret ? ret : pass_round(reader, first);
}

int reader_run(struct reader *reader,
	       int (*take)(void *arg, const struct event *event), void *arg)
{
	reader->take = take;
	reader->arg = arg;
	return read_rounds(reader);
}

int reader_sample(const struct reader *reader, const struct event *event,
		  struct sample *sample)
{
	if (!sample_parse(event->attr, event->bytes, event->size, sample))
		return 0;
	return trouble_damaged(reader->trouble, event->offset,
		"a sample of %zu bytes has less than its fields take",
		event->size);
}

/* ---- Files ------------------------------------------------------------ */

static const char *const cuts[] = {
	[LAYOUT_UNFINISHED] = "perf record did not finish the recording: it "
		"is read up to its end",
	[LAYOUT_CUT] = "the recording is cut off: it is read up to its end",
	[LAYOUT_CUT_AFTER] = "the recording is cut off after its events: "
		"build-ids or other sections are missing",
};

static int begin_regular_file(struct reader *reader)
{
	struct layout *layout = &reader->layout;
	int ret;

	if (!reader->input.seekable)
		return trouble_refused(reader->trouble, "a perf.data file "
			"cannot be read from a pipe, only what perf writes to "
			"one");
	ret = layout_read(layout, &reader->input, &reader->meta.attrs,
			  &reader->meta.features, reader->trouble);
	reader->end = layout->header.data.offset + layout->header.data.size;
	if (ret || !layout->cut)
		return ret;
	say_line(reader, cuts[layout->cut]);
	if (layout->cut != LAYOUT_CUT_AFTER)
		reader->end = UINT64_MAX;
	return 0;
}

static int begin_any(struct reader *reader)
{
	struct trouble *trouble = reader->trouble;
	uint64_t header[PIPE_HEADER_SIZE / 8];
	int ret = input_read(&reader->input, header, sizeof(header), trouble);

	if (!ret && header[0] == FILE_MAGIC_SWAPPED)
		return trouble_refused(trouble, "recorded on a machine of the "
				       "other byte order");
	if (ret == -ENODATA && reader->input.offset)
		return trouble_damaged(trouble, reader->input.offset,
				       "the file ends here");
	if (ret == -ENODATA || (!ret && header[0] != FILE_MAGIC))
		return trouble_refused(trouble, "not a recording of perf");
	if (ret)
		return ret;
	reader->meta.piped = header[1] == PIPE_HEADER_SIZE;
	reader->end = UINT64_MAX;
	return reader->meta.piped ? 0 : begin_regular_file(reader);
}

int reader_begin(struct reader *reader, const struct perfdata_options *options,
		 struct trouble *trouble)
{
	int ret;

	*reader = (struct reader){
		.options = options, .trouble = trouble, .waits = UINT64_MAX,
	};
	ret = input_begin(&reader->input, options->in, trouble);
	reader->input.keep = options->raw;
	return ret ? ret : begin_any(reader);
}

void reader_end(struct reader *reader)
{
	track_free(&reader->track);
	round_free(&reader->now);
	round_free(&reader->before);
	unpack_free(&reader->unpack);
	order_free(&reader->order);
	meta_free(&reader->meta);
	input_end(&reader->input);
}
