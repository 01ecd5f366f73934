// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* From input to output. */
#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "ends.h"
#include "format.h"
#include "pipe.h"
#include "place.h"
#include "reader.h"
#include "unwind.h"

struct inject {
	struct reader reader;
	struct perfdata_result *result;
	struct trouble *trouble;
	struct output output;
	struct frames frames;
	bool whole;		/* a file, with a header */
	struct perfdata_ends *result_ends;	/* NULL: not wanted */
	struct ends ends;
	uint8_t sample[EVENT_MOST];
};

/* ---- Ends ------------------------------------------------------------- */

static int count(struct inject *inject, const struct event *event,
		 const struct sample *sample)
{
	struct perfdata_ends *result = inject->result_ends;
	struct perfdata_end end;

	if (!result)
		return 0;
	result->samples++;
	if (sample->abi == PERF_SAMPLE_REGS_ABI_NONE) {
		result->without++;
		return 0;
	}
	result->by_code += inject->frames.by_code;
	end = place_of_copy(inject->reader.track.stacks, event,
			    &inject->frames);
	if (end.why == SFJIT_STACKS_OUTERMOST) {
		result->complete++;
		return 0;
	}
	return ends_add(&inject->ends, &end) < 0 ?
	       trouble_failed(inject->trouble, "ends", -ENOMEM) : 0;
}

/* ---- Records ---------------------------------------------------------- */

static int convert(struct inject *inject, const struct event *event)
{
	struct sample sample;
	size_t size;
	int ret = reader_sample(&inject->reader, event, &sample);

	if (ret)
		return ret;
	ret = unwind_sample(inject->reader.track.stacks, event->attr, &sample,
			    event->time, &inject->frames);
	if (ret)
		return trouble_failed(inject->trouble, "stacks", ret);
	ret = count(inject, event, &sample);
	if (ret)
		return ret;
	size = sample_rewrite(&sample, inject->frames.ips, inject->frames.nr,
			      inject->sample);
	if (!size)
		return trouble_damaged(inject->trouble, event->offset,
			"a sample without room for a call chain");
	inject->result->converted++;
	return output_write(&inject->output, inject->sample, size,
			    inject->trouble);
}

static int write_event(struct inject *inject, const struct event *event)
{
	if (get_u32(event->bytes) == PERF_RECORD_SAMPLE) {
		inject->result->samples++;
		if (event->attr->convert)
			return convert(inject, event);
		if (inject->result_ends)
			inject->result_ends->chains++;
	}
	return output_write(&inject->output, event->bytes, event->length,
			    inject->trouble);
}

static int copy(void *arg, const struct event *event)
{
	struct inject *inject = arg;
	int ret = write_event(inject, event);

	/* The header of a file tells its length, and is written at the end. */
	if (!ret && !inject->whole)
		output_mark(&inject->output);
	return ret;
}

/* ---- Files ------------------------------------------------------------ */

static int write_front(struct inject *inject)
{
	static const uint64_t header[] = { FILE_MAGIC, PIPE_HEADER_SIZE };
	struct reader *reader = &inject->reader;

	if (reader->meta.piped)
		return output_write(&inject->output, header, sizeof(header),
				    inject->trouble);
	if (inject->whole)
		return layout_write(&reader->layout, &reader->input,
				    &inject->output, inject->trouble);
	return pipe_write(&reader->layout, &reader->input, &inject->output,
			  inject->trouble);
}

static int convert_all(struct inject *inject)
{
	struct reader *reader = &inject->reader;
	int ret;

	/* Where a header could not be finished, there is none. */
	inject->whole = !reader->meta.piped && inject->output.seekable;
	ret = write_front(inject);
	if (!ret)
		ret = reader_run(reader, copy, inject);
	if (!ret && inject->whole)
		ret = layout_finish(&reader->layout, &reader->input,
				    &inject->output, inject->trouble);
	return ret ? ret : output_flush(&inject->output, inject->trouble);
}

/* Why it failed stays. */
static void keep_part(struct inject *inject)
{
	struct perfdata_result *result = inject->result;
	struct input *input = &inject->reader.input;
	struct trouble trouble = *inject->trouble;

	if (!input->keep || inject->output.error) {
		result->kept = output_keep(&inject->output);
		return;
	}
	result->raw = true;
	output_raw(&inject->output, input, inject->trouble);
	result->kept = inject->output.flushed;
	*inject->trouble = trouble;
}

static int run(struct inject *inject, const struct perfdata_options *options)
{
	struct perfdata_result *result = inject->result;
	struct reader *reader = &inject->reader;
	int ret = reader_begin(reader, options, inject->trouble);

	if (!ret)
		ret = output_begin(&inject->output, options->out,
				   inject->trouble);
	if (!ret)
		ret = convert_all(inject);
	if (ret && inject->output.buffer)
		keep_part(inject);
	result->error = inject->output.error;
	result->lost = reader_lost(reader);
	if (inject->result_ends)
		inject->result_ends->lost = result->lost;
	result->read = reader->input.offset;
	result->written = inject->output.offset;
	if (reader->track.stacks)
		sfjit_stacks_stats(reader->track.stacks, &result->stacks);
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
	ret = run(inject, options);
	if (!ret && ends)
		ends_take(&inject->ends, ends);
	ends_free(&inject->ends);
	reader_end(&inject->reader);
	output_end(&inject->output);
	free(inject);
	return ret;
}
