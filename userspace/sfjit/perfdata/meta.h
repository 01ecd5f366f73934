/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Records that perf itself makes, of what was recorded. Others of its records
 * are none of ours.
 */
#ifndef SFJIT_PERFDATA_META_H
#define SFJIT_PERFDATA_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attr.h"
#include "features.h"
#include "layout.h"

/*
 * The clock that perf has without -k, as the kernel makes it of a counter that
 * programs can read, too: the TSC, on AArch64 CNTVCT. Conversion is exact.
 */

/* Of PERF_RECORD_TIME_CONV, by struct perf_event_mmap_page. */
struct cycles {
	uint64_t shift, mult, zero;
	uint64_t last, mask;	/* of a counter that is not as wide */
	bool known;
};

/* A record that has less, or nothing that can be, says nothing. */
void cycles_read(struct cycles *cycles, const uint8_t *event, size_t size);

/* The time of a counter's value. */
uint64_t cycles_time(const struct cycles *cycles, uint64_t value);

struct meta {
	struct attrs attrs;
	struct features features;
	struct cycles cycles;
	bool piped;		/* attributes are among the records */
};

void meta_free(struct meta *meta);

/*
 * Reads one, at @offset of the input, with what is behind it, and makes it that
 * of a recording whose samples are converted.
 */
int meta_read(struct meta *meta, uint8_t *event, size_t size, uint64_t offset,
	      struct trouble *trouble);

/* It tells a feature that is not written: see features_is_kept(). */
bool meta_is_dropped(const uint8_t *event, size_t size);

/*
 * What a perf.data file has beside its events, as the records of a pipe, as of
 * what is converted. The events follow. A section that is larger than a record
 * is left out.
 */
int pipe_write(const struct layout *layout, struct input *input,
	       struct output *output, struct trouble *trouble);

#endif /* SFJIT_PERFDATA_META_H */
