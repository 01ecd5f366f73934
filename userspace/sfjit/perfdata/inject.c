// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* From input to output. */
#include <errno.h>
#include <stdlib.h>

#include "ends.h"
#include "features.h"
#include "format.h"
#include "held.h"
#include "meta.h"
#include "reader.h"
#include "regular.h"
#include "unwind.h"

struct inject {
	struct reader reader;
	struct perfdata_result *result;
	struct trouble *trouble;
	struct output output;
	struct frames frames;
	bool whole;		/* a file, with a header */
	bool recorded;		/* a file of what was piped */
	struct regular regular;
	struct perfdata_ends *result_ends;	/* NULL: not wanted */
	struct ends ends;
	struct held held;
	struct sfjit_stacks_counts twice;	/* of samples unwound again */
	uint8_t sample[EVENT_MOST];
};

/* ---- Ends ------------------------------------------------------------- */

static struct outcome outcome_of(struct inject *inject,
				 const struct event *event,
				 const struct sample *sample)
{
	struct outcome outcome = {
		.none = sample->abi == PERF_SAMPLE_REGS_ABI_NONE,
		.why = inject->frames.end,
		.by_code = inject->frames.by_code,
	};

	if (!outcome.none)
		outcome.end = place_of_copy(inject->reader.track.stacks, event,
					    &inject->frames);
	return outcome;
}

static int count_outcome(struct inject *inject, const struct outcome *outcome)
{
	struct perfdata_ends *result = inject->result_ends;

	if (!result)
		return 0;
	result->samples++;
	if (outcome->none) {
		result->without++;
		return 0;
	}
	result->by_code += outcome->by_code;
	if (outcome->end.why == SFJIT_STACKS_OUTERMOST) {
		result->complete++;
		return 0;
	}
	return ends_add(&inject->ends, &outcome->end) < 0 ?
	       trouble_failed(inject->trouble, "ends", -ENOMEM) : 0;
}

/* ---- Output ----------------------------------------------------------- */

static int write_out(struct inject *inject, const uint8_t *bytes,
		     size_t length)
{
	int ret;

	if (inject->recorded)
		return regular_write(&inject->regular, &inject->output, bytes,
				     length, inject->trouble);
	ret = output_write(&inject->output, bytes, length, inject->trouble);
	/* The header of a file tells its length, and is written at the end. */
	if (!ret && !inject->whole)
		output_mark(&inject->output);
	return ret;
}

/* Writes up to the first that waits. */
static int write_held(struct inject *inject)
{
	struct held *held = &inject->held;
	int ret = 0;

	while (!ret && held->first && !held->first->waits) {
		ret = write_out(inject, held->first->bytes,
				held->first->length);
		held_remove(held);
	}
	return ret;
}

static int release_record(struct inject *inject, struct held_record *record)
{
	int ret = count_outcome(inject, &record->outcome);

	held_release(&inject->held, record);
	return ret;
}

static int release_all(struct inject *inject)
{
	struct held_record *record = inject->held.first;
	int ret = 0;

	for (; record && !ret; record = record->next)
		if (record->waits)
			ret = release_record(inject, record);
	return ret ? ret : write_held(inject);
}

/* It makes room: others are written as they are. */
static int bound_held(struct inject *inject)
{
	struct held *held = &inject->held;
	int ret = 0;

	while (!ret && held->bytes > PERFDATA_WAITING_MOST) {
		inject->result->hasty++;
		ret = release_record(inject, held->first);
		if (!ret)
			ret = write_held(inject);
	}
	return ret;
}

static int put_record(struct inject *inject, const uint8_t *bytes,
		      size_t length)
{
	int ret;

	if (inject->held.first && !held_add(&inject->held, bytes, length))
		return bound_held(inject);
	ret = release_all(inject);
	return ret ? ret : write_out(inject, bytes, length);
}

/* ---- Records ---------------------------------------------------------- */

static int convert_event(struct inject *inject, const struct event *event,
			 const struct sample *sample, size_t *size)
{
	int ret = unwind_sample(inject->reader.track.stacks, event->attr,
				sample, event->time, &inject->frames);

	if (ret)
		return trouble_failed(inject->trouble, "stacks", ret);
	*size = sample_rewrite(sample, inject->frames.ips, inject->frames.nr,
			       inject->sample);
	return *size ? 0 : trouble_damaged(inject->trouble, event->offset,
		"a sample without room for a call chain");
}

/* The first code of these frames that was generated and is not described. */
static bool is_early(struct inject *inject, const struct event *event,
		     uint64_t *address)
{
	const struct frames *frames = &inject->frames;
	struct sfjit_stacks_mapping m = { };
	pid_t pid = place_pid(event);

	if (!inject->reader.options->live || !frames->nr ||
	    !jitdumps_expect(&inject->reader.track.dumps, pid) ||
	    (!frames->by_pointer && frames->end == SFJIT_STACKS_OUTERMOST))
		return false;
	*address = frames->ips[(frames->by_pointer ? frames->by_pointer :
				frames->nr) - 1];
	return !sfjit_stacks_find(inject->reader.track.stacks, pid,
				  event->time, *address, &m) &&
	       m.executable && m.path[0] && sfjit_stacks_is_memory(m.path);
}

/* false: no memory. */
static bool hold(struct inject *inject, const struct event *event,
		 const struct sample *sample, size_t size, uint64_t address,
		 const struct outcome *outcome)
{
	if (held_add_sample(&inject->held, inject->sample, size, event, sample,
			    address, outcome))
		return false;
	if (event->time < inject->reader.waits)
		inject->reader.waits = event->time;
	return true;
}

static int convert_sample(struct inject *inject, const struct event *event)
{
	struct outcome outcome;
	struct sample sample;
	uint64_t address;
	size_t size;
	int ret = reader_sample(&inject->reader, event, &sample);

	if (!ret)
		ret = convert_event(inject, event, &sample, &size);
	if (ret)
		return ret;
	inject->result->converted++;
	outcome = outcome_of(inject, event, &sample);
	if (is_early(inject, event, &address) &&
	    hold(inject, event, &sample, size, address, &outcome))
		return bound_held(inject);
	ret = count_outcome(inject, &outcome);
	return ret ? ret : put_record(inject, inject->sample, size);
}

static void note_time(struct inject *inject, uint64_t time)
{
	uint64_t *times = inject->regular.times;

	if (!inject->reader.meta.attrs.timed)
		return;
	if (!times[0] || time < times[0])
		times[0] = time;
	if (time > times[1])
		times[1] = time;
}

static bool is_kernel_sample(const uint8_t *event)
{
	size_t at = offsetof(struct perf_event_header, misc);

	return (get_u16(event + at) & PERF_RECORD_MISC_CPUMODE_MASK) ==
	       PERF_RECORD_MISC_KERNEL;
}

static int take_event(void *arg, const struct event *event)
{
	struct inject *inject = arg;

	if (get_u32(event->bytes) == PERF_RECORD_SAMPLE) {
		inject->result->samples++;
		inject->result->kernel += is_kernel_sample(event->bytes);
		note_time(inject, event->time);
		if (event->attr->convert)
			return convert_sample(inject, event);
		if (inject->result_ends)
			inject->result_ends->chains++;
	}
	return put_record(inject, event->bytes, event->length);
}

/* ---- Records that wait ------------------------------------------------ */

/* 1: it waits for the next code. Otherwise 0, or an error. */
static int convert_again(struct inject *inject, struct held_record *record)
{
	struct reader *reader = &inject->reader;
	struct event event = {
		.bytes = record->sample, .size = record->size,
		.length = record->size, .time = record->time,
		.offset = record->offset,
		.attr = attrs_find(&reader->meta.attrs, record->sample,
				   record->size),
	};
	enum sfjit_stacks_reason before = record->outcome.why;
	struct outcome outcome;
	struct sample sample;
	size_t size;
	int ret = reader_sample(reader, &event, &sample);

	if (!ret)
		ret = convert_event(inject, &event, &sample, &size);
	if (ret)
		return ret;
	inject->twice.samples++;
	inject->twice.ends[before]++;
	outcome = outcome_of(inject, &event, &sample);
	if (held_outcome(record, &outcome) ||
	    held_replace(&inject->held, record, inject->sample, size))
		return trouble_failed(inject->trouble, "records", -ENOMEM);
	return is_early(inject, &event, &record->address);
}

static bool is_described(struct inject *inject,
			 const struct held_record *record)
{
	struct sfjit_stacks_mapping m = { };

	return !sfjit_stacks_find(inject->reader.track.stacks, record->pid,
				  record->time, record->address, &m) &&
	       !m.path[0];
}

/*
 * @settled: what happened before may be forgotten. A sample from then stays as
 * it is.
 */
static int retry(struct inject *inject, struct held_record *record,
		 uint64_t settled)
{
	bool ends = !jitdumps_expect(&inject->reader.track.dumps,
				     record->pid);
	int ret = 0;

	if (record->time < settled)
		ends = true;
	else if (is_described(inject, record))
		ret = convert_again(inject, record);
	else if (!ends)
		return 0;
	if (ret == 1 && !ends)
		return 0;
	return ret < 0 ? ret : release_record(inject, record);
}

static int told(void *arg)
{
	struct inject *inject = arg;
	struct reader *reader = &inject->reader;
	struct held_record *record = inject->held.first;
	struct sfjit_stacks_counts counts;
	int ret = 0;

	reader->waits = UINT64_MAX;
	if (!record)
		return 0;
	sfjit_stacks_stats(reader->track.stacks, &counts);
	for (; record && !ret; record = record->next) {
		if (record->waits)
			ret = retry(inject, record, counts.settled);
		if (record->waits && record->time < reader->waits)
			reader->waits = record->time;
	}
	return ret ? ret : write_held(inject);
}

/* ---- Files ------------------------------------------------------------ */

static int write_front(struct inject *inject)
{
	static const uint64_t header[] = { FILE_MAGIC, PIPE_HEADER_SIZE };
	struct reader *reader = &inject->reader;

	if (inject->recorded)
		return 0;
	if (reader->meta.piped)
		return output_write(&inject->output, header, sizeof(header),
				    inject->trouble);
	if (inject->whole)
		return layout_write(&reader->layout, &reader->input,
				    &inject->output, inject->trouble);
	return pipe_write(&reader->layout, &reader->input, &inject->output,
			  inject->trouble);
}

/* Write the records that still wait, also if the input is damaged. */
static int run_reader(struct inject *inject)
{
	struct reader *reader = &inject->reader;
	struct trouble trouble;
	int ret, failed;

	reader->told = reader->options->live ? told : NULL;
	failed = reader_run(reader, take_event, inject);
	trouble = *inject->trouble;
	ret = inject->output.error ? 0 : release_all(inject);
	if (failed)
		*inject->trouble = trouble;
	return failed ? failed : ret;
}

/* No records of build-ids follow others: they become a section. */
static int write_id_section(struct inject *inject)
{
	const struct perfdata_files *files = inject->reader.options->files;
	struct perfdata_build_id id;
	size_t i, length;
	int ret = 0;

	for (i = 0; files && !ret && files->next(files->arg, i, &id); i++) {
		if (!id.length || (id.kernel && !inject->result->kernel))
			continue;
		length = features_put_build_id(&id, inject->sample);
		ret = regular_write(&inject->regular, &inject->output,
				    inject->sample, length, inject->trouble);
	}
	return ret;
}

static int convert_records(struct inject *inject)
{
	struct reader *reader = &inject->reader;
	int ret;

	/* Where a header could not be finished, there is none. */
	inject->whole = !reader->meta.piped && inject->output.seekable;
	inject->recorded = reader->meta.piped && inject->output.seekable &&
			   reader->options->live;
	ret = write_front(inject);
	if (!ret)
		ret = run_reader(inject);
	if (!ret && inject->whole)
		ret = layout_finish(&reader->layout, &reader->input,
				    &inject->output, inject->trouble);
	if (!ret && inject->recorded)
		ret = write_id_section(inject);
	if (!ret && inject->recorded)
		ret = regular_finish(&inject->regular, &inject->output,
				     inject->trouble);
	return ret ? ret : output_flush(&inject->output, inject->trouble);
}

/* Why it failed stays. */
static void keep_written_part(struct inject *inject)
{
	struct perfdata_result *result = inject->result;
	struct input *input = &inject->reader.input;
	struct trouble trouble = *inject->trouble;

	if (!input->keep || inject->output.error) {
		result->kept = inject->recorded ?
			       regular_keep(&inject->regular, &inject->output) :
			       output_keep(&inject->output);
		return;
	}
	result->raw = true;
	output_raw(&inject->output, input, inject->trouble);
	result->kept = inject->output.flushed;
	*inject->trouble = trouble;
}

/* A sample that was unwound again counts once. */
static void discount(const struct inject *inject,
		     struct sfjit_stacks_counts *counts)
{
	size_t i;

	counts->samples -= inject->twice.samples;
	for (i = 0; i < SFJIT_STACKS_NR_ENDS; i++)
		counts->ends[i] -= inject->twice.ends[i];
}

static int run_inject(struct inject *inject,
		      const struct perfdata_options *options)
{
	struct perfdata_result *result = inject->result;
	struct reader *reader = &inject->reader;
	int ret = reader_begin(reader, options, inject->trouble);

	if (!ret)
		ret = output_begin(&inject->output, options->out,
				   inject->trouble);
	if (!ret)
		ret = convert_records(inject);
	if (ret && inject->output.buffer)
		keep_written_part(inject);
	result->error = inject->output.error;
	result->lost = reader_lost(reader);
	if (inject->result_ends)
		inject->result_ends->lost = result->lost;
	result->read = reader->input.offset;
	result->written = inject->output.offset;
	if (reader->track.stacks)
		sfjit_stacks_stats(reader->track.stacks, &result->stacks);
	discount(inject, &result->stacks);
	return ret;
}

int perfdata_inject(const struct perfdata_options *options,
		    struct perfdata_result *result, struct perfdata_ends *ends,
		    struct trouble *trouble)
{
	struct inject *inject = calloc(1, sizeof(*inject));
	int ret;

	*result = (struct perfdata_result){ };
	if (ends)
		*ends = (struct perfdata_ends){ };
	if (!inject)
		return trouble_failed(trouble, "inject", -ENOMEM);
	inject->result = result;
	inject->result_ends = ends;
	inject->trouble = trouble;
	ret = run_inject(inject, options);
	if (!ret && ends)
		ends_take(&inject->ends, ends);
	ends_free(&inject->ends);
	held_free(&inject->held);
	regular_free(&inject->regular);
	reader_end(&inject->reader);
	output_end(&inject->output);
	free(inject);
	return ret;
}
