/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a recording says of itself beside its events: the same in sections of a
 * file and in records of a pipe.
 */
#ifndef SFJIT_PERFDATA_FEATURES_H
#define SFJIT_PERFDATA_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfdata.h"
#include "table.h"
#include "trouble.h"

#define BUILD_ID_MOST		20
/* Of a section that is read at all; those of perf have some MiB. */
#define FEATURE_MOST		(64U << 20)

struct build_id {
	uint8_t bytes[BUILD_ID_MOST];
	uint8_t length;
};

struct build_id_of;

struct features {
	struct table by_name;	/* by a hash: 1 + the place of the first */
	struct build_id_of *ids;
	size_t nr, max;
	bool elsewhere;		/* it is of another machine than this one */
	uint32_t unpacked_most;	/* of a compressed record; 0: not known */
	/* The tracepoint syscalls:sys_enter_munmap. */
	bool has_munmap;
	uint64_t munmap;	/* its number */
	size_t munmap_addr, munmap_len;	/* in PERF_SAMPLE_RAW, 8 bytes each */
};

void features_free(struct features *features);

/* That of a file; NULL: not known. */
const struct build_id *features_build_id(const struct features *features,
					 const char *path);

/* A record of FEATURE_BUILD_ID, or RECORD_HEADER_BUILD_ID. */
int features_add_build_id(struct features *features, const uint8_t *event,
			  size_t size, uint64_t offset,
			  struct trouble *trouble);

/* Makes one, of at most EVENT_MOST bytes: how many. */
size_t features_put_build_id(const struct perfdata_build_id *id,
			     uint8_t *event);

/* The bytes of the first of these records; 0: it has none, or more. */
size_t features_build_id_length(const uint8_t *record, size_t left);

/* FEATURE_*, with its contents, which are at @offset. Others are ignored. */
int features_read(struct features *features, unsigned int feature,
		  const uint8_t *data, size_t size, uint64_t offset,
		  struct trouble *trouble);

/* Whether features_read() needs it, or features_convert() changes it. */
bool features_is_read(unsigned int feature);

/* Makes it that of a file whose samples are converted, of the same length. */
int features_convert(unsigned int feature, uint8_t *data, size_t size,
		     uint64_t offset, struct trouble *trouble);

/* What is written has it, too: records are no longer compressed there. */
bool features_is_kept(unsigned int feature);

/* Files with some of them are of other kinds. -ENOTSUP, or 0. */
int features_refuse(unsigned int feature, struct trouble *trouble);

#endif /* SFJIT_PERFDATA_FEATURES_H */
