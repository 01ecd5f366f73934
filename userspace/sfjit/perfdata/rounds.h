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
#include <stddef.h>
#include <stdint.h>

#include "file.h"
#include "trouble.h"

/*
 * Records of perf record -z. Each compressed record has a part of one stream of
 * zstd, which has other records; one of these may begin in one part and end in
 * the next.
 */

/* One that is all zero is empty. */
struct unpack {
	void *stream;
	uint8_t *packed;	/* the part */
	uint64_t offset;	/* of its record */
	size_t packed_at, packed_used;
	uint8_t *data;		/* unpacked */
	size_t at, used;
	bool more;		/* the stream has more of this part */
	bool broken;		/* it cannot be read any further */
	uint32_t most;		/* bytes of a part; 0: the header does not say */
	uint64_t unpacked;	/* of this part */
	/* Bytes of records that were unpacked, less those of their parts. */
	uint64_t shift;
};

void unpack_free(struct unpack *unpack);

bool unpack_is_packed(const uint8_t *event);

/* Takes a compressed record, when the part before has no records left. */
int unpack_add(struct unpack *unpack, const uint8_t *event, size_t size,
	       uint64_t offset, struct trouble *trouble);

/*
 * The size of the next record, which is valid up to the next call; 0: it needs
 * the next part.
 */
int unpack_next(struct unpack *unpack, const uint8_t **event,
		struct trouble *trouble);

/* There is the beginning of a record. */
bool unpack_has_rest(const struct unpack *unpack);

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
