/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Records of the input by rounds.
 *
 * perf record empties the buffers of all CPUs in turn, which is a round. In
 * each the records of a CPU are in order of time, those of several are not. But
 * when a round has ended, all is read that happened up to the latest record of
 * the round before.
 */
#ifndef SFJIT_PERFDATA_ROUNDS_H
#define SFJIT_PERFDATA_ROUNDS_H

#include <stdbool.h>

#include "file.h"
#include "unpack.h"

/* A round that is longer, or has no end, is cut there: bytes. */
#define ROUND_MOST	(64U << 20)

struct round {
	uint8_t *data;
	size_t used, room;
	uint64_t offset;	/* where it begins, compressed or not */
	bool cut;		/* the input ends inside of a record */
};

void round_free(struct round *round);

/*
 * The next record of the input, unpacked, with the bytes that follow some; @at
 * receives its place in the data, @size the size in its header. 0, or -ENODATA:
 * there is none.
 */
int round_read(struct round *round, struct input *input, uint64_t left,
	       struct unpack *unpack, size_t *at, size_t *size,
	       struct trouble *trouble);

/* Bytes of a record and of the data after it. */
size_t round_length(const uint8_t *event, size_t size);

#endif /* SFJIT_PERFDATA_ROUNDS_H */
