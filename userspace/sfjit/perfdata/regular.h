/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A perf.data file of what perf writes to a pipe. Attributes and features are
 * records there, and sections here: attributes before the other records, and
 * features after them.
 */
#ifndef SFJIT_PERFDATA_REGULAR_H
#define SFJIT_PERFDATA_REGULAR_H

#include "file.h"
#include "format.h"

struct regular_bytes {
	uint8_t *data;
	size_t used, room;
};

struct regular_attr {
	struct regular_bytes raw, ids;
};

/* One that is all zero is empty. */
struct regular {
	struct regular_attr *attrs;
	size_t nr, max, nr_written;
	struct regular_bytes sections[FEATURE_BITS];
	struct file_header header;
	bool begun;
	uint64_t times[2];	/* of the first and last sample; 0: no times */
};

void regular_free(struct regular *regular);

/*
 * Writes a record, or keeps it for a section. Without the rest the file is one
 * that perf record did not finish.
 */
int regular_write(struct regular *regular, struct output *output,
		  const uint8_t *event, size_t length, struct trouble *trouble);

/*
 * After a failure: the file has the records that were written, and no features.
 * Returns its length; 0: nothing is of use.
 */
uint64_t regular_keep(struct regular *regular, struct output *output);

/* There are no more records. */
int regular_finish(struct regular *regular, struct output *output,
		   struct trouble *trouble);

#endif /* SFJIT_PERFDATA_REGULAR_H */
