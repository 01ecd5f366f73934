/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What perf writes, as far as <linux/perf_event.h> of Linux 6.1 does not have
 * it: see tools/perf/Documentation/perf.data-file-format.txt of the kernel.
 */
#ifndef SFJIT_PERFDATA_FORMAT_H
#define SFJIT_PERFDATA_FORMAT_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Fields of records, at any alignment. Whoever reads one has checked before that
 * it is there.
 */
static inline uint16_t get_u16(const void *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint32_t get_u32(const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t get_u64(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline void put_u16(void *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void put_u32(void *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void put_u64(void *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

#define FILE_MAGIC		0x32454c4946524550ULL	/* "PERFILE2" */
#define FILE_MAGIC_SWAPPED	0x50455246494c4532ULL

struct file_section {
	uint64_t offset, size;
};

#define FEATURE_BITS		256

struct file_header {
	uint64_t magic, size, attr_size;
	struct file_section attrs, data, event_types;
	uint64_t features[FEATURE_BITS / 64];
};

/* Of what is piped. */
#define PIPE_HEADER_SIZE	16

enum {
	FEATURE_TRACING_DATA	= 1,
	FEATURE_BUILD_ID	= 2,
	FEATURE_HOSTNAME	= 3,
	FEATURE_ARCH		= 6,
	FEATURE_EVENT_DESC	= 12,
	FEATURE_AUXTRACE	= 18,
	FEATURE_SAMPLE_TIME	= 21,
	FEATURE_DIR_FORMAT	= 24,
	FEATURE_COMPRESSED	= 27,
};

/* Records that perf itself makes: all from the first on. */
enum {
	RECORD_HEADER_ATTR		= 64,
	RECORD_HEADER_TRACING_DATA	= 66,
	RECORD_HEADER_BUILD_ID		= 67,
	RECORD_FINISHED_ROUND		= 68,
	RECORD_AUXTRACE_INFO		= 70,
	RECORD_AUXTRACE			= 71,
	RECORD_TIME_CONV		= 79,
	RECORD_HEADER_FEATURE		= 80,
	RECORD_COMPRESSED		= 81,
	RECORD_COMPRESSED2		= 83,
};

/* A process that perf found running: its mappings follow. */
#define MISC_FORK_RUNNING	(1U << 13)
/* The length of a build-id is beside it. */
#define MISC_BUILD_ID_SIZE	(1U << 15)

#define EVENT_HEADER_SIZE	sizeof(struct perf_event_header)
/* A record's size has 16 bits; perf keeps records at multiples of 8. */
#define EVENT_MOST		0xfff8U

/* Struct perf_event_attr, by its sizes. */
#define ATTR_LEAST		PERF_ATTR_SIZE_VER0
#define ATTR_MOST		4096	/* the kernel takes no more */

/* Bits that Linux 6.1 does not have, or their places in the word of flags. */
#define FLAG_SAMPLE_ID_ALL		(1ULL << 18)
#define FLAG_EXCLUDE_CALLCHAIN_USER	(1ULL << 22)
#define FLAG_USE_CLOCKID		(1ULL << 25)
#define BRANCH_HW_INDEX			(1ULL << 17)
#define BRANCH_COUNTERS			(1ULL << 19)
#define FORMAT_LOST			(1ULL << 4)
#define SAMPLE_KNOWN			((1ULL << 25) - 1)

/* Of a user space's call chain that comes later; Linux 6.1 has no name. */
#define RECORD_CALLCHAIN_DEFERRED	22
/* Addresses of one at most: the kernel keeps them in a page. */
#define DEFERRED_MOST			510

/* Marks in call chains. All that is not an address is over it. */
#define CONTEXT_MOST		(-4095ULL)
#define CONTEXT_USER		(-512ULL)
#define CONTEXT_USER_DEFERRED	(-640ULL)

#endif /* SFJIT_PERFDATA_FORMAT_H */
