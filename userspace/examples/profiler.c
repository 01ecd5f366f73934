// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A profiler of many processes with libsfjit-stacks, which turns registers and
 * a copy of the stack into addresses.
 *
 *	profiler [-a] COMMAND [ARGUMENT...]
 *
 * Profiles the command and what it starts; with -a, all processes as long as
 * it runs. Prints a line for each sample: its process, its frames, and why the
 * stack ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sfjit-stacks.h>

#define PAGES		128	/* of a ring: each user may lock as many */
#define PAGES_ROOT	1024
#define STACK_BYTES	16384
#define MOST		65536	/* of a record */

/* A CPU has a ring of its own. */
struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

/* Records, one after the other. */
struct records {
	uint8_t *bytes;
	size_t used, room;
};

struct profiler {
	struct sfjit_stacks *stacks;
	uint64_t registers;
	struct ring *rings;
	long nr;
	struct records waiting;		/* samples of the round before */
	struct records samples;		/* and of this one */
	uint64_t began;			/* the round before, by now() */
	uint64_t lost;
};

/* The events' clock. */
static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* ---- Events ------------------------------------------------------------ */

/*
 * Opens an event whose samples have what the library needs. @pid: a process that
 * has not executed its program yet; -1: all.
 */
static int open_event(pid_t pid, int cpu, uint64_t registers)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = 999, .freq = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = registers,
		.sample_stack_user = STACK_BYTES,
		.sample_id_all = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
		.disabled = pid > 0, .enable_on_exec = pid > 0,
		.inherit = 1, .exclude_kernel = 1,
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1,
		.watermark = 1, .wakeup_watermark = 4 * MOST,
	};

	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static int open_ring(struct ring *ring, pid_t pid, int cpu, uint64_t registers)
{
	size_t pages = geteuid() ? PAGES : PAGES_ROOT;

	ring->fd = open_event(pid, cpu, registers);
	if (ring->fd < 0)
		return errno == ENODEV ? 0 : -1;	/* it is off */
	ring->page = mmap(NULL, (1 + pages) * sysconf(_SC_PAGESIZE),
			  PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	return ring->page == MAP_FAILED ? -1 : 0;
}

static int open_rings(struct profiler *p, pid_t pid)
{
	long cpu;

	p->nr = sysconf(_SC_NPROCESSORS_CONF);
	p->rings = calloc(p->nr, sizeof(*p->rings));
	if (!p->rings)
		return -1;
	for (cpu = 0; cpu < p->nr; cpu++)
		if (open_ring(&p->rings[cpu], pid, cpu, p->registers))
			return -1;
	return 0;
}

/* ---- Records ----------------------------------------------------------- */

static int print_frame(void *arg, const struct sfjit_stacks_frame *frame)
{
	printf(" %#" PRIx64, frame->ip);
	return 0;
}

static uint64_t take(const uint8_t **at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, *at, size);
	*at += size;
	return value;
}

/* Records other than samples end with TID and TIME. */
static uint64_t time_of(const struct perf_event_header *event)
{
	const uint8_t *at = (const uint8_t *)event + event->size - 8;

	return take(&at, 8);
}

static void on_sample(struct sfjit_stacks *stacks, const uint8_t *at,
		      uint64_t registers)
{
	struct sfjit_stacks_sample sample = { .mask = registers };
	enum sfjit_stacks_reason end;
	uint64_t abi, size;

	sample.pid = take(&at, 4);
	take(&at, 4);
	sample.time = take(&at, 8);
	abi = take(&at, 8);
	if (!abi)
		return;		/* of no process */
	sample.registers = (const uint64_t *)at;
	at += 8 * __builtin_popcountll(registers);
	size = take(&at, 8);
	sample.stack = at;
	at += size;
	sample.stack_length = size ? take(&at, 8) : 0;
	printf("%d", sample.pid);
	if (sfjit_stacks_frames(stacks, &sample, print_frame, NULL, &end) > 0)
		printf(": %s", sfjit_stacks_end_text(end));
	putchar('\n');
}

static void on_mmap(struct sfjit_stacks *stacks,
		    const struct perf_event_header *event, const uint8_t *at)
{
	struct sfjit_stacks_mapping mapping = { 0 };
	pid_t pid = take(&at, 4);

	take(&at, 4);
	mapping.start = take(&at, 8);
	mapping.length = take(&at, 8);
	mapping.offset = take(&at, 8);
	mapping.device_major = take(&at, 4);
	mapping.device_minor = take(&at, 4);
	mapping.inode = take(&at, 8);
	take(&at, 8);
	mapping.executable = take(&at, 4) & PROT_EXEC;
	take(&at, 4);
	mapping.path = (const char *)at;
	sfjit_stacks_mmap(stacks, pid, time_of(event), &mapping);
}

static void on_task(struct sfjit_stacks *stacks, unsigned int type,
		    const uint8_t *at)
{
	pid_t pid = take(&at, 4), parent = take(&at, 4), tid = take(&at, 4);
	uint64_t time;

	take(&at, 4);
	time = take(&at, 8);
	if (type == PERF_RECORD_FORK)
		sfjit_stacks_fork(stacks, pid, tid, parent, time);
	else
		sfjit_stacks_exit(stacks, pid, tid, time);
}

static void keep(struct records *records, const struct perf_event_header *event)
{
	size_t room = records->room ? records->room : MOST;
	uint8_t *grown = records->bytes;

	while (room - records->used < event->size)
		room *= 2;
	if (room != records->room)
		grown = realloc(grown, room);
	if (!grown)
		abort();
	records->bytes = grown;
	records->room = room;
	memcpy(grown + records->used, event, event->size);
	records->used += event->size;
}

static void on_event(struct profiler *p, const struct perf_event_header *event)
{
	const uint8_t *at = (const uint8_t *)(event + 1);

	switch (event->type) {
	case PERF_RECORD_SAMPLE:
		keep(&p->samples, event);
		break;
	case PERF_RECORD_LOST:
		take(&at, 8);
		p->lost += take(&at, 8);
		break;
	case PERF_RECORD_MMAP2:
		on_mmap(p->stacks, event, at);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		on_task(p->stacks, event->type, at);
		break;
	case PERF_RECORD_COMM:
		if (event->misc & PERF_RECORD_MISC_COMM_EXEC)
			sfjit_stacks_exec(p->stacks, take(&at, 4),
					  time_of(event));
	}
}

/* Copy each record: it may wrap around the end of the ring. */
static void read_ring(struct profiler *p, struct perf_event_mmap_page *page)
{
	static union {
		struct perf_event_header header;
		uint8_t bytes[MOST];
	} event;
	const uint8_t *ring = (const uint8_t *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail, i;

	while (tail < head) {
		for (i = 0; i < sizeof(event.header); i++)
			event.bytes[i] = ring[(tail + i) % page->data_size];
		for (; i < event.header.size; i++)
			event.bytes[i] = ring[(tail + i) % page->data_size];
		tail += event.header.size;
		on_event(p, &event.header);
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

/* ---- Rounds ------------------------------------------------------------ */

static void unwind(struct profiler *p, struct records *samples)
{
	const struct perf_event_header *event;
	size_t at;

	for (at = 0; at < samples->used; at += event->size) {
		event = (const void *)(samples->bytes + at);
		on_sample(p->stacks, (const uint8_t *)(event + 1),
			  p->registers);
	}
	samples->used = 0;
}

/*
 * A sample needs what happened before it, on whatever CPU: it waits until all
 * rings were read once more. Nothing older than the round before comes then.
 */
static void read_rings(struct profiler *p)
{
	struct records unwound = p->waiting;
	uint64_t began = now();
	long i;

	for (i = 0; i < p->nr; i++)
		if (p->rings[i].page)
			read_ring(p, p->rings[i].page);
	unwind(p, &unwound);
	p->waiting = p->samples;
	p->samples = unwound;
	sfjit_stacks_settle(p->stacks, p->began);
	p->began = began;
}

static void wait_for_records(const struct profiler *p, struct pollfd *events)
{
	long i;

	for (i = 0; i < p->nr; i++)
		events[i] = (struct pollfd){
			.fd = p->rings[i].page ? p->rings[i].fd : -1,
			.events = POLLIN,
		};
	poll(events, p->nr, 100);
}

/* ---- The command ------------------------------------------------------- */

/* The child waits until the events are open. */
static pid_t start(char **command, int go[2])
{
	pid_t pid;
	char c;

	if (pipe(go))
		return -1;
	pid = fork();
	if (pid)
		return pid;
	close(go[1]);
	if (read(go[0], &c, 1) < 0)
		_exit(127);
	execvp(command[0], command);
	_exit(127);
}

/* Events report changes: read what processes have mapped before. */
static int begin(struct profiler *p, pid_t pid, bool all)
{
	uint64_t time = now();

	p->registers = sfjit_stacks_registers(p->stacks);
	if (open_rings(p, all ? -1 : pid))
		return -1;
	errno = all ? -sfjit_stacks_running(p->stacks, 0, time) : 0;
	return errno ? -1 : 0;
}

static int profile(struct profiler *p, pid_t pid, int go, bool all)
{
	struct pollfd *events;

	if (begin(p, pid, all))
		return -1;
	events = calloc(p->nr, sizeof(*events));
	if (!events)
		return -1;
	close(go);
	while (!waitpid(pid, NULL, WNOHANG)) {
		wait_for_records(p, events);
		read_rings(p);
	}
	read_rings(p);
	read_rings(p);
	free(events);
	return 0;
}

int main(int argc, char **argv)
{
	const struct sfjit_stacks_options options = { .live = true };
	bool all = argc > 1 && !strcmp(argv[1], "-a");
	char **command = argv + 1 + all;
	struct profiler p = { };
	int go[2];
	pid_t pid;

	if (argc < 2 + all) {
		fprintf(stderr, "usage: profiler [-a] COMMAND [ARGUMENT...]\n");
		return 2;
	}
	if (sfjit_stacks_begin(&options, &p.stacks))
		return 1;
	pid = start(command, go);
	if (pid < 0 || profile(&p, pid, go[1], all)) {
		fprintf(stderr, "profiler: %s\n", strerror(errno));
		return 1;
	}
	if (p.lost)
		fprintf(stderr, "profiler: %" PRIu64 " records were lost\n",
			p.lost);
	sfjit_stacks_end(p.stacks);
	return 0;
}
