/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where a perf.data file has its parts. What is written has them in the same
 * order; what is behind the events moves, by as much as these shrink.
 */
#ifndef SFJIT_PERFDATA_LAYOUT_H
#define SFJIT_PERFDATA_LAYOUT_H

#include "attr.h"
#include "features.h"
#include "file.h"
#include "format.h"

/* What is missing at the end of a file; its header is as if it were not. */
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

/* What is in front of the events, as it is; they follow. */
int layout_write(const struct layout *layout, struct input *input,
		 struct output *output, struct trouble *trouble);

/* What is behind them, and what is other than in the input. */
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
