/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What was recorded, by struct perf_event_attr, and where its records have
 * what says which of them they belong to.
 */
#ifndef SFJIT_PERFDATA_ATTR_H
#define SFJIT_PERFDATA_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"
#include "trouble.h"

struct attr {
	uint32_t type;
	uint64_t config, sample_type, read_format, branch_type, regs_user;
	uint16_t max_stack;	/* addresses of a call chain; 0: not told */
	bool sample_id_all;
	bool monotonic;		/* its times are of CLOCK_MONOTONIC */
	bool own_clock;		/* of the clock that perf has without -k */
	bool convert;		/* its samples have registers and stack */
	/* From the beginning of a sample, or 0. */
	uint16_t ip, tid, time;
	/* From the end of other records, or 0. */
	uint16_t id_size, time_back;
};

struct attrs {
	struct attr *attrs;
	size_t nr, max;
	struct table by_id;
	/* Of all: of the id in a sample, and from the end of other records. */
	uint16_t id, id_back;
	bool timed;		/* all records have a time */
	bool monotonic;		/* of CLOCK_MONOTONIC */
	bool own_clock;		/* of the clock that perf has without -k */
};

void attrs_free(struct attrs *attrs);

/*
 * Adds one, which has @size bytes and is at @offset of the input. Its ids, 8
 * bytes each, may come in pieces and belong to the last one.
 */
int attrs_add(struct attrs *attrs, const uint8_t *raw, size_t size,
	      uint64_t offset, struct trouble *trouble);
int attrs_add_ids(struct attrs *attrs, const uint8_t *ids, size_t nr,
		  struct trouble *trouble);

/* That of a record; NULL: none has its id, or it has none. */
const struct attr *attrs_find(const struct attrs *attrs, const uint8_t *event,
			      size_t size);

/* When a record was made; 0: it does not say. */
uint64_t attr_time(const struct attr *attr, const uint8_t *event, size_t size);

/* How long it says that it is, of ATTR_LEAST bytes. */
size_t attr_size(const uint8_t *raw);
/* Makes it that of the samples that are written. */
void attr_convert(uint8_t *raw, size_t size);

#endif /* SFJIT_PERFDATA_ATTR_H */
