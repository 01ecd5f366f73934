/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Records that perf itself makes, of what was recorded. Others of its records
 * are none of ours.
 */
#ifndef SFJIT_PERFDATA_META_H
#define SFJIT_PERFDATA_META_H

#include "attr.h"
#include "cycles.h"
#include "features.h"

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

#endif /* SFJIT_PERFDATA_META_H */
