// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event.h"

/*
 * From <linux/perf_event.h>, Linux 6.19: the bits defer_callchain and
 * defer_output after read_format, and the record.
 */
#define DEFER			(3ULL << 38)
#define CALLCHAIN_DEFERRED	22

static size_t page(void)
{
	return sysconf(_SC_PAGESIZE);
}

static void ask_for_deferred(struct perf_event_attr *attr)
{
	char *at = (char *)&attr->read_format + sizeof(attr->read_format);
	uint64_t bits;

	memcpy(&bits, at, sizeof(bits));
	bits |= DEFER;
	memcpy(at, &bits, sizeof(bits));
}

static int map_ring(struct event *event)
{
	event->pages = mmap(NULL, page() + event->ring, PROT_READ | PROT_WRITE,
			    MAP_SHARED, event->fd, 0);
	return event->pages == MAP_FAILED ? -errno : 0;
}

int event_open(struct event *event)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
		.exclude_kernel = !event->kernel,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
	};
	int ret = 0;

	if (event->deferred)
		ask_for_deferred(&attr);
	event->fd = syscall(SYS_perf_event_open, &attr, event->pid, event->cpu,
			    -1, PERF_FLAG_FD_CLOEXEC);
	if (event->fd < 0)
		return -errno;
	if (event->ring)
		ret = map_ring(event);
	if (ret)
		close(event->fd);
	return ret;
}

void event_enable(const struct event *event)
{
	ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
}

void event_close(struct event *event)
{
	if (event->ring)
		munmap(event->pages, page() + event->ring);
	close(event->fd);
}

/* A number, and so many entries; the first of them are markers. */
static bool take_user_stack(const uint64_t *record,
			    bool (*take)(const uint64_t *stack, size_t nr))
{
	const uint64_t *entry = record + 1, *end = entry + *record;

	while (entry < end && *entry >= PERF_CONTEXT_MAX)
		entry++;
	return take(entry, end - entry);
}

bool event_stacks(const struct event *event,
		  bool (*take)(const uint64_t *stack, size_t nr))
{
	const struct perf_event_mmap_page *head = event->pages;
	const char *ring = (const char *)event->pages + page();
	const struct perf_event_header *record;
	uint64_t at;

	/* Few records: the ring has not wrapped. */
	for (at = 0; at < head->data_head; at += record->size) {
		const uint64_t *body;

		record = (const void *)(ring + at);
		body = (const void *)(record + 1);
		if (!event->deferred && record->type == PERF_RECORD_SAMPLE &&
		    take_user_stack(body, take))
			return true;
		/* Behind a number that the sample has, too. */
		if (record->type == CALLCHAIN_DEFERRED &&
		    take_user_stack(body + 1, take))
			return true;
	}
	return false;
}
