/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The records of a recording, one after the other. When one is passed on, the
 * tracker knows all that has happened up to its time.
 */
#ifndef SFJIT_PERFDATA_READER_H
#define SFJIT_PERFDATA_READER_H

#include "file.h"
#include "layout.h"
#include "meta.h"
#include "perfdata.h"
#include "rounds.h"
#include "sample.h"
#include "table.h"
#include "track.h"

/* One record. */
struct event {
	const uint8_t *bytes;
	size_t size;		/* as its header says */
	size_t length;		/* and the bytes after it */
	/* Each sample has one; perf's own records, or those without id, none. */
	const struct attr *attr;
	uint64_t time, offset;
};

struct reader {
	const struct perfdata_options *options;
	struct trouble *trouble;
	struct input input;
	struct meta meta;
	struct track track;
	struct layout layout;	/* of a file */
	uint64_t end;		/* of the events */
	struct round now, before;
	struct unpack unpack;
	struct order order;	/* of what is not told yet */
	uint64_t latest;	/* time up to now */
	uint64_t latest_before;	/* up to the end of the round before */
	uint64_t first_sample;	/* of this round */
	uint64_t lost[2];	/* as the kernel says, and as perf does */
	uint64_t records;
	uint64_t said;		/* progress, up to there */
	int (*take)(void *arg, const struct event *event);
	/* NULL, or called before @take when the tracker was told of more. */
	int (*told)(void *arg);
	void *arg;
	uint64_t waits;		/* time of the first event that @take keeps */
};

/* Up to the first record. To be released also if it fails. */
int reader_begin(struct reader *reader, const struct perfdata_options *options,
		 struct trouble *trouble);

/* All of them, in their order; until @take returns an error, which is it. */
int reader_run(struct reader *reader,
	       int (*take)(void *arg, const struct event *event), void *arg);

/* Samples without room in the buffers; both count the same. */
uint64_t reader_lost(const struct reader *reader);

/* The fields of a sample. */
int reader_sample(const struct reader *reader, const struct event *event,
		  struct sample *sample);

void reader_end(struct reader *reader);

#endif /* SFJIT_PERFDATA_READER_H */
