// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Perf events that sample only the user callchain of this thread, and the stack
 * on which the samples are taken.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <linux/hw_breakpoint.h>

#include "sframe_test.h"

#define RING_PAGES	16
#define STACK_SIZE	(64 * SFT_PAGE)
/* Zeros above the first frame, where a wrong step may read. */
#define STACK_TOP	(STACK_SIZE - 1024)

void *sft_map(size_t size, int prot)
{
	void *mem = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

void sft_put_code(void *to, const void *from, size_t size)
{
	const __u8 *bytes = from;
	size_t i;

	for (i = 0; i < size; i++) {
		((__u8 *)to)[i] = bytes[i];
		/* Keep the compiler from copying more at once. */
		asm volatile("" : : : "memory");
	}
	__builtin___clear_cache(to, (char *)to + size);
}

void *sft_map_code(const void *code, size_t size, size_t map_size)
{
	void *mem = sft_map(map_size, SFT_RW);

	if (!mem)
		return NULL;
	memset(mem, 0xcc, map_size);
	sft_put_code(mem, code, size);
	if (mprotect(mem, map_size, SFT_RX)) {
		munmap(mem, map_size);
		return NULL;
	}
	return mem;
}

unsigned long sft_user_end(void)
{
	void *page = (void *)(SFT_USER_END_LARGE - SFT_PAGE);
	void *mem = mmap(page, SFT_PAGE, PROT_NONE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (mem == page)
		munmap(mem, SFT_PAGE);
	return mem == page || errno == EEXIST ? SFT_USER_END_LARGE :
						SFT_USER_END_SMALL;
}

int sft_run_on(unsigned int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus) ? -errno : 0;
}

int sft_write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

long sft_read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	long number = -1;

	if (file && fscanf(file, "%ld", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number;
}

int sft_pmu_type(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
		 name);
	return sft_read_number(path);
}

void sft_attr_init(struct perf_event_attr *attr, __u32 type, bool defer)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = type;
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_CALLCHAIN;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			    PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->exclude_callchain_kernel = 1;
	attr->exclude_hv = 1;
	attr->disabled = 1;
	attr->defer_callchain = defer;
	attr->defer_output = defer;
}

/* Offset of @addr in the file of this program, or -1. */
static long file_offset(const void *addr)
{
	unsigned long start, end, offset;
	long found = -1;
	char line[256];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && found < 0 && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end,
			   &offset) == 3 &&
		    (uintptr_t)addr >= start && (uintptr_t)addr < end)
			found = (uintptr_t)addr - start + offset;
	if (maps)
		fclose(maps);
	return found;
}

bool sft_probe_in(struct perf_event_attr *attr, const char *path,
		  unsigned long offset)
{
	const int type = sft_pmu_type("uprobe");

	if (type < 0)
		return false;
	attr->type = type;
	attr->config = 0;
	attr->uprobe_path = (uintptr_t)path;
	attr->probe_offset = offset;
	return true;
}

bool sft_probe_at(struct perf_event_attr *attr, const void *addr)
{
	return sft_probe_in(attr, "/proc/self/exe", file_offset(addr));
}

int sft_event_open(struct sft_event *event, struct perf_event_attr *attr)
{
	return sft_event_open_on(event, attr, -1);
}

int sft_event_open_on(struct sft_event *event, struct perf_event_attr *attr,
		      int cpu)
{
	return sft_event_open_of(event, attr, 0, cpu);
}

int sft_event_open_of(struct sft_event *event, struct perf_event_attr *attr,
		      pid_t pid, int cpu)
{
	event->fd = syscall(__NR_perf_event_open, attr, pid, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
	if (event->fd < 0)
		return -errno;

	event->ring = mmap(NULL, (RING_PAGES + 1) * SFT_PAGE, SFT_RW,
			   MAP_SHARED, event->fd, 0);
	if (event->ring == MAP_FAILED) {
		close(event->fd);
		return -ENOMEM;
	}
	return 0;
}

void sft_event_close_ring(struct sft_event *event)
{
	munmap(event->ring, (RING_PAGES + 1) * SFT_PAGE);
	close(event->fd);
}

void sft_event_close(struct sft_event *event)
{
	sft_break_close(event);
	if (event->ring != MAP_FAILED)
		sft_event_close_ring(event);
}

#if !SFT_TRACED

static void break_attr_init(struct perf_event_attr *attr, const void *addr,
			    bool defer)
{
	sft_attr_init(attr, PERF_TYPE_BREAKPOINT, defer);
	attr->bp_type = HW_BREAKPOINT_X;
	attr->bp_addr = (uintptr_t)addr;
	attr->bp_len = SFT_BREAK_LEN;
	attr->exclude_kernel = 1;
}

int sft_break_open(struct sft_event *event, const void *addr, bool defer)
{
	struct perf_event_attr attr;

	break_attr_init(&attr, addr, defer);
	return sft_event_open(event, &attr);
}

int sft_trap_open(struct sft_event *event, const void *addr)
{
	struct perf_event_attr attr;
	int ret;

	break_attr_init(&attr, addr, false);
	attr.sample_type = 0;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	ret = sft_event_open(event, &attr);
	/* Once: the handler may return to the instruction. */
	if (!ret && ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 1))
		ret = -errno;
	return ret;
}

#endif

int sft_event_record(struct sft_event *event, __u64 *buf, size_t size)
{
	struct perf_event_mmap_page *ring = event->ring;
	char *data = (char *)ring + SFT_PAGE, *out = (char *)buf;
	__u64 mask = RING_PAGES * SFT_PAGE - 1, tail = ring->data_tail;
	struct perf_event_header *header;
	unsigned int i;

	if (__atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) == tail)
		return 0;

	/* Records are multiples of 8 bytes: their header does not wrap. */
	header = (struct perf_event_header *)(data + (tail & mask));
	if (header->size > size)
		return -EPROTO;
	for (i = 0; i < header->size; i++)
		out[i] = data[(tail + i) & mask];
	__atomic_store_n(&ring->data_tail, tail + header->size,
			 __ATOMIC_RELEASE);
	return header->type;
}

static int copy_chain(const __u64 *ip, __u64 nr, struct sft_chain *chain)
{
	if (nr > SFT_MAX_CHAIN)
		return -EPROTO;
	chain->nr = nr;
	memcpy(chain->ip, ip, nr * sizeof(*ip));
	return 0;
}

/*
 * Each event with defer_output gets the callchains of all samples: the ones
 * with another cookie belong to other events.
 */
static int deferred_chain(struct sft_event *event, __u64 cookie,
			  struct sft_chain *chain)
{
	static __u64 record[SFT_MAX_CHAIN + 16];

	do {
		if (sft_event_record(event, record, sizeof(record)) !=
		    PERF_RECORD_CALLCHAIN_DEFERRED)
			return -EPROTO;
	} while (record[1] != cookie);
	return copy_chain(&record[3], record[2], chain);
}

int sft_event_chain(struct sft_event *event, struct sft_chain *chain)
{
	static __u64 record[SFT_MAX_CHAIN + 16];
	int type;

	do {
		type = sft_event_record(event, record, sizeof(record));
	} while (type == PERF_RECORD_CALLCHAIN_DEFERRED);

	if (!type)
		return -ENODATA;
	if (type != PERF_RECORD_SAMPLE)
		return -EPROTO;
	if (record[1] == 2 && record[2] == PERF_CONTEXT_USER_DEFERRED)
		return deferred_chain(event, record[3], chain);
	if (!record[1] || record[2] != PERF_CONTEXT_USER)
		return -EPROTO;
	return copy_chain(&record[3], record[1] - 1, chain);
}

int sft_event_any_chain(struct sft_event *event, struct sft_chain *chain)
{
	static __u64 record[SFT_MAX_CHAIN + 16];
	int type;

	for (;;) {
		type = sft_event_record(event, record, sizeof(record));
		if (type <= 0)
			return type ? type : -ENODATA;
		if (type == PERF_RECORD_CALLCHAIN_DEFERRED)
			return copy_chain(&record[3], record[2], chain);
		if (type == PERF_RECORD_SAMPLE && record[1] &&
		    record[2] == PERF_CONTEXT_USER)
			return copy_chain(&record[3], record[1] - 1, chain);
	}
}

void sft_run_here(const struct sft_call *call)
{
	char *stack = sft_map(STACK_SIZE, SFT_RW);

	if (!stack)
		return;
	sft_enter(stack + STACK_TOP, sft_outer, call);
	munmap(stack, STACK_SIZE);
}

/* How often the event fired while it was enabled. */
static __u64 times_fired(const struct sft_event *event)
{
	__u64 now[3] = { };

	if (read(event->fd, now, sizeof(now)) != sizeof(now))
		return 0;
	return now[0];
}

/* QEMU's TCG misses about one instruction breakpoint in 10,000: retry. */
#define SFT_MISSES	3

int sft_event_run(struct sft_event *event, void (*run)(const void *arg),
		  const void *arg, struct sft_chain *chain)
{
	const __u64 before = times_fired(event);
	int ret, i = 0;

	chain->nr = 0;
	do {
		run(arg);
		ret = sft_event_chain(event, chain);
	} while (ret == -ENODATA && times_fired(event) == before &&
		 ++i < SFT_MISSES);
	return ret;
}

void sft_run_call(const void *call)
{
	sft_run(call);
}

int sft_event_sample_run(struct sft_event *event, void (*run)(const void *arg),
			 const void *arg, struct sft_chain *chain)
{
	struct sft_chain more;
	int ret;

	ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
	ret = sft_event_run(event, run, arg, chain);
	ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);

	if (!ret && sft_event_chain(event, &more) != -ENODATA)
		ret = -EPROTO;
	return ret;
}

int sft_event_sample(struct sft_event *event, const struct sft_call *call,
		     struct sft_chain *chain)
{
	return sft_event_sample_run(event, sft_run_call, call, chain);
}

int sft_chain_at(const void *addr, bool defer, const struct sft_call *call,
		 struct sft_chain *chain)
{
	struct sft_event event;
	int ret;

	chain->nr = 0;
	ret = sft_break_open(&event, addr, defer);
	if (ret)
		return ret;
	ret = sft_event_sample(&event, call, chain);
	sft_event_close(&event);
	return ret;
}

static const __u64 sft_callers[] = {
	(uintptr_t)sft_inner_ret, (uintptr_t)sft_outer_ret,
	(uintptr_t)sft_enter_ret,
};

/* Replace a placeholder at the end of @ip (see SFT_CALLERS) by addresses. */
static void expand(struct sft_chain *chain, const __u64 *ip, unsigned int nr)
{
	unsigned int first = ip[nr - 1] != SFT_CALLERS;

	chain->nr = nr;
	memcpy(chain->ip, ip, nr * sizeof(*ip));
	if (ip[nr - 1] == SFT_SLOT_LOST && SFT_LOST_ENDS) {
		chain->nr--;
		return;
	}
	if (ip[nr - 1] < SFT_CALLERS || ip[nr - 1] > SFT_SLOT_LOST)
		return;
	memcpy(&chain->ip[nr - 1], &sft_callers[first],
	       sizeof(sft_callers) - first * sizeof(*ip));
	chain->nr += 2 - first;
}

static void print_chain(const char *title, const struct sft_chain *chain)
{
	unsigned int i;

	fprintf(stderr, "# %s:", title);
	for (i = 0; i < chain->nr; i++)
		fprintf(stderr, " %llx", chain->ip[i]);
	fprintf(stderr, "\n");
}

static bool same(const struct sft_chain *a, const struct sft_chain *b)
{
	return a->nr == b->nr &&
	       !memcmp(a->ip, b->ip, a->nr * sizeof(a->ip[0]));
}

bool sft_chain_is(const struct sft_chain *chain, const __u64 *ip,
		  unsigned int nr)
{
	struct sft_chain expected;

	expand(&expected, ip, nr);
	return same(chain, &expected);
}

bool sft_chain_check(const struct sft_chain *chain, const __u64 *ip,
		     unsigned int nr)
{
	struct sft_chain expected;

	expand(&expected, ip, nr);
	if (same(chain, &expected))
		return true;
	print_chain("expected ", &expected);
	print_chain("callchain", chain);
	return false;
}
