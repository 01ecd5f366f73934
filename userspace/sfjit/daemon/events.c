// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events.h"
#include "util.h"

struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

static size_t page(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* ---- Rings ------------------------------------------------------------- */

/* Each record wakes: 'wakeup_events' would count samples only. */
static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_ring(struct events *events, int cpu)
{
	int fd = open_event(cpu);
	void *pages;

	if (fd < 0)
		return fd;
	pages = mmap(NULL, page() + RING_BYTES, PROT_READ | PROT_WRITE,
		     MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		close(fd);
		return -errno;
	}
	events->pages[events->nr] = pages;
	events->fds[events->nr++] = (struct pollfd){ fd, POLLIN, 0 };
	return 0;
}

/* ENODEV: the CPU is offline. */
int events_open(struct events *events)
{
	int cpu, most = sysconf(_SC_NPROCESSORS_CONF), ret = 0;

	events->nr = 0;
	events->fds = check_alloc(calloc(most, sizeof(*events->fds)));
	events->pages = check_alloc(calloc(most, sizeof(*events->pages)));
	for (cpu = 0; cpu < most && !ret; cpu++) {
		ret = open_ring(events, cpu);
		if (ret == -ENODEV)
			ret = 0;
	}
	if (ret)
		events_close(events);
	return ret;
}

void events_close(struct events *events)
{
	while (events->nr) {
		events->nr--;
		munmap(events->pages[events->nr], page() + RING_BYTES);
		close(events->fds[events->nr].fd);
	}
	free(events->pages);
	free(events->fds);
}

/* ---- Records ----------------------------------------------------------- */

static void copy_out(const char *ring, uint64_t at, void *to, size_t length)
{
	size_t start = at % RING_BYTES, first = RING_BYTES - start;

	if (first > length)
		first = length;
	memcpy(to, ring + start, first);
	memcpy((char *)to + first, ring, length - first);
}

/* A process of another PID namespace has the number 0. */
static void take_mapping(const struct mmap2 *record, size_t size,
			 events_take take, void *arg)
{
	const struct sfjit_stacks_mapping mapping = {
		.start = record->start, .length = record->length,
		.offset = record->offset, .path = record->path,
		.executable = true, .inode = record->inode,
		.device_major = record->major, .device_minor = record->minor,
	};

	if (size > sizeof(*record) && memchr(record->path, '\0',
					      size - sizeof(*record)))
		take(arg, record->pid, record->generation, &mapping);
}

/* Returns the record's size; 0: it cannot be one. */
static size_t read_record(struct events *events, const char *ring,
			  uint64_t tail, uint64_t head)
{
	struct perf_event_header header;

	if (head - tail < sizeof(header))
		return 0;
	copy_out(ring, tail, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size > head - tail)
		return 0;
	copy_out(ring, tail, events->record, header.size);
	return header.size;
}

static bool drain_ring(struct events *events, struct perf_event_mmap_page *page,
		       const char *ring, events_take take, void *arg)
{
	const struct perf_event_header *header = (void *)events->record;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;
	bool lost = false;
	size_t size;

	for (; tail != head; tail += size) {
		size = read_record(events, ring, tail, head);
		if (!size) {
			lost = true;
			break;
		}
		lost |= header->type == PERF_RECORD_LOST;
		if (header->type == PERF_RECORD_MMAP2)
			take_mapping((void *)events->record, size, take, arg);
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return lost;
}

bool events_drain(struct events *events, events_take take, void *arg)
{
	bool lost = false;
	size_t i;

	for (i = 0; i < events->nr; i++)
		lost |= drain_ring(events, events->pages[i],
				   (char *)events->pages[i] + page(), take,
				   arg);
	return lost;
}
