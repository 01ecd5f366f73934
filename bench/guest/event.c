// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include "event.h"
#include "measure.h"

#define PAGE		4096
#define RING_PAGES	8

#define PROBES		"/sys/bus/event_source/devices/uprobe/type"
#define PROBE_ID	\
	"/sys/kernel/tracing/events/sframe_probe/sframe_probe/id"

/*
 * Flags 38 and 39 of perf_event_attr, new in Linux 6.19; the headers of the
 * host are older. On big-endian machines bit fields begin at the highest bit.
 */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ATTR_DEFER		(3ull << (63 - 39))
#else
#define ATTR_DEFER		(3ull << 38)
#endif
#define RECORD_CALLCHAIN_DEFERRED	22

static void attr_set_defer(struct perf_event_attr *attr)
{
	char *flags = (char *)&attr->read_format + sizeof(attr->read_format);
	uint64_t bits;

	memcpy(&bits, flags, sizeof(bits));
	bits |= ATTR_DEFER;
	memcpy(flags, &bits, sizeof(bits));
}

static void attr_init(struct perf_event_attr *attr, enum event_mode mode)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_CALLCHAIN;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->exclude_callchain_kernel = 1;
	attr->exclude_callchain_user = mode == EVENT_NO_CHAIN;
	if (mode == EVENT_DEFERRED)
		attr_set_defer(attr);
}

static void *map_ring(int fd)
{
	void *ring = mmap(NULL, (1 + RING_PAGES) * PAGE,
			  PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		die("no ring buffer: %m");
	return ring;
}

static void open_attr(struct event *event, struct perf_event_attr *attr,
		      enum event_mode mode, int with_ring)
{
	event->mode = mode;
	event->fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
	if (event->fd < 0)
		die("no event of type %u: %m", attr->type);
	event->ring = with_ring ? map_ring(event->fd) : NULL;
}

/* The offset of @insn in this program's file. */
static uint64_t file_offset(const void *insn)
{
	unsigned long start, end, offset;
	FILE *file = fopen("/proc/self/maps", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end,
			   &offset) != 3 ||
		    (uintptr_t)insn < start || (uintptr_t)insn >= end)
			continue;
		fclose(file);
		return (uintptr_t)insn - start + offset;
	}
	die("%p is not mapped", insn);
}

static int read_number(const char *path, const char *missing)
{
	FILE *file = fopen(path, "re");
	int number;

	if (!file || fscanf(file, "%d", &number) != 1)
		die("%s: no %s", path, missing);
	fclose(file);
	return number;
}

static void attr_probe(struct perf_event_attr *attr, const void *insn)
{
	attr->type = read_number(PROBES, "probes of user code");
	attr->config1 = (uintptr_t)"/proc/self/exe";
	attr->config2 = file_offset(insn);
}

void event_open_at(struct event *event, const void *insn, enum event_mode mode,
		   int with_ring)
{
	struct perf_event_attr attr;

	attr_init(&attr, mode);
	if (BREAK_LEN) {
		attr.type = PERF_TYPE_BREAKPOINT;
		attr.bp_type = HW_BREAKPOINT_X;
		attr.bp_addr = (uintptr_t)insn;
		attr.bp_len = BREAK_LEN;
	} else {
		attr_probe(&attr, insn);
	}
	open_attr(event, &attr, mode, with_ring);
}

void event_open(struct event *event, enum event_mode mode, int with_ring)
{
	event_open_at(event, bench_trigger_insn, mode, with_ring);
}

void event_open_probe(struct event *event, enum event_mode mode, int with_ring)
{
	struct perf_event_attr attr;

	attr_init(&attr, mode);
	/* Callchains of tracepoints begin in the kernel. */
	attr.exclude_kernel = 0;
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = read_number(PROBE_ID, "module sframe_probe");
	open_attr(event, &attr, mode, with_ring);
}

void event_close(struct event *event)
{
	if (event->ring)
		munmap(event->ring, (1 + RING_PAGES) * PAGE);
	close(event->fd);
}

/* Copies a chain of either kind of record, without the context marker. */
static size_t copy_chain(const uint64_t *record, uint64_t *chain, size_t max)
{
	size_t nr = record[0], i, copied = 0;

	for (i = 0; i < nr && copied < max; i++)
		if (record[1 + i] < PERF_CONTEXT_MAX)
			chain[copied++] = record[1 + i];
	return copied;
}

size_t event_read_chain(struct event *event, uint64_t *chain, size_t max)
{
	const struct perf_event_mmap_page *head = event->ring;
	uint64_t pos = 0;

	while (pos < head->data_head) {
		const struct perf_event_header *record =
			event->ring + PAGE + pos;
		const uint64_t *body = (const uint64_t *)(record + 1);

		if (event->mode == EVENT_DEFERRED &&
		    record->type == RECORD_CALLCHAIN_DEFERRED)
			return copy_chain(body + 1, chain, max);
		if (event->mode == EVENT_AT_ONCE &&
		    record->type == PERF_RECORD_SAMPLE)
			return copy_chain(body, chain, max);
		pos += record->size;
	}
	return 0;
}
