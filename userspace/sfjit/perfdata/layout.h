/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where a perf.data file has its parts. The output has them in the same order;
 * the parts after the events move by as much as the events shrink.
 */
#ifndef SFJIT_PERFDATA_LAYOUT_H
#define SFJIT_PERFDATA_LAYOUT_H

#include "attr.h"
#include "features.h"
#include "file.h"
#include "format.h"

/* Bytes missing at the end of a file, whose header counts them. */
enum layout_cut {
	LAYOUT_WHOLE,
	LAYOUT_UNFINISHED,	/* perf has not written how many events */
	LAYOUT_CUT,		/* among the events */
	LAYOUT_CUT_AFTER	/* among the sections */
};

struct layout {
	struct file_header header;
	enum layout_cut cut;
	size_t nr_attrs, nr_features;
};

/*
 * Of a file whose header is not read yet. Fills attributes and features, and
 * has the input stand at the first event.
 */
int layout_read(struct layout *layout, struct input *input,
		struct attrs *attrs, struct features *features,
		struct trouble *trouble);

/* The bytes before the events, unchanged; the events follow. */
int layout_write(const struct layout *layout, struct input *input,
		 struct output *output, struct trouble *trouble);

/* The parts after them, and those that differ from the input. */
int layout_finish(const struct layout *layout, struct input *input,
		  struct output *output, struct trouble *trouble);

/* ---- Parts -------------------------------------------------------------- */

size_t layout_attr_size(const struct layout *layout);
/* @raw has room for ATTR_MOST bytes. */
int layout_read_attr(const struct layout *layout, struct input *input,
		     size_t i, uint8_t *raw, struct file_section *ids,
		     struct trouble *trouble);

/* The first from a number on that the file has; FEATURE_BITS: none. */
unsigned int layout_next_feature(const struct layout *layout, unsigned int i);
/* Where the i-th of those is. */
int layout_read_section(const struct layout *layout, struct input *input,
			size_t i, struct file_section *section,
			struct trouble *trouble);
/* Its contents, to be freed; NULL, and why. */
uint8_t *layout_read_contents(struct input *input,
			      const struct file_section *section,
			      struct trouble *trouble);

#endif /* SFJIT_PERFDATA_LAYOUT_H */
