// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Records of mappings: an event with attr.mmap gets those with code, whatever
 * other events want, and one with attr.mmap_data the others.
 */
#include <sys/mman.h>

#include "harness.h"

#include "sframe_test.h"

#define CODE	1
#define DATA	2

FIXTURE(records)
{
	int		fd;
};

FIXTURE_SETUP(records)
{
	self->fd = memfd_create("mapped", MFD_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ftruncate(self->fd, SFT_PAGE));
}

FIXTURE_TEARDOWN(records)
{
}

static int open_event(struct sft_event *event, unsigned int kinds)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = !!(kinds & CODE),
		.mmap_data = !!(kinds & DATA),
		.exclude_kernel = 1,
	};

	return sft_event_open(event, &attr);
}

/* Which records are there of a mapping at @addr? */
static unsigned int recorded(struct sft_event *event, const void *addr)
{
	struct {
		struct perf_event_header	header;
		__u32				pid, tid;
		__u64				addr;
		__u64				rest[64];
	} record;
	unsigned int kinds = 0;
	int type;

	while ((type = sft_event_record(event, (__u64 *)&record,
					sizeof(record)))) {
		if (type != PERF_RECORD_MMAP ||
		    record.addr != (uintptr_t)addr)
			continue;
		kinds |= record.header.misc & PERF_RECORD_MISC_MMAP_DATA ?
			 DATA : CODE;
	}
	return kinds;
}

#define EXPECT_RECORDS(event, code, data)				\
	expect_records(_metadata, self->fd, event, code, data)

static void expect_records(struct __test_metadata *_metadata, int fd,
			   struct sft_event *event, unsigned int code,
			   unsigned int data)
{
	void *mem;

	/* Earlier mappings may have had the same address. */
	recorded(event, NULL);
	mem = mmap(NULL, SFT_PAGE, SFT_RX, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, mem);
	EXPECT_EQ(code, recorded(event, mem));
	munmap(mem, SFT_PAGE);
	mem = mmap(NULL, SFT_PAGE, SFT_RW, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, mem);
	EXPECT_EQ(data, recorded(event, mem));
	munmap(mem, SFT_PAGE);
}

/* Guards against: losing a record that only one of two events wants. */
TEST_F(records, of_each_event)
{
	struct sft_event code, data, both;

	ASSERT_EQ(0, open_event(&code, CODE));
	EXPECT_RECORDS(&code, CODE, 0);
	ASSERT_EQ(0, open_event(&data, DATA));
	EXPECT_RECORDS(&code, CODE, 0);
	EXPECT_RECORDS(&data, 0, DATA);
	ASSERT_EQ(0, open_event(&both, CODE | DATA));
	EXPECT_RECORDS(&both, CODE, DATA);
	/* The last one to want data still gets it. */
	sft_event_close(&data);
	EXPECT_RECORDS(&both, CODE, DATA);
	sft_event_close(&both);
	EXPECT_RECORDS(&code, CODE, 0);
	sft_event_close(&code);
	ASSERT_EQ(0, open_event(&data, DATA));
	EXPECT_RECORDS(&data, 0, DATA);
	sft_event_close(&data);
}

TEST_HARNESS_MAIN
