/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Records of perf record -z. Each compressed record has a part of one stream of
 * zstd, which has other records; one of these may begin in one part and end in
 * the next.
 */
#ifndef SFJIT_PERFDATA_UNPACK_H
#define SFJIT_PERFDATA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trouble.h"

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

#endif /* SFJIT_PERFDATA_UNPACK_H */
