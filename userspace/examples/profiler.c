// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A profiler of one thread with libsfjit-stacks, which turns registers and a
 * copy of the stack into addresses.
 *
 *	profiler COMMAND [ARGUMENT...]
 *
 * Prints a line for each sample: why the stack ends, and its frames.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sfjit-stacks.h>

#define PAGES		512
#define STACK_BYTES	16384
#define MOST		65536	/* of a record */

/* Opens an event whose samples have what the library needs. */
static int open_event(pid_t pid, uint64_t registers)
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
		.disabled = 1, .enable_on_exec = 1, .exclude_kernel = 1,
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1,
	};

	return syscall(SYS_perf_event_open, &attr, pid, -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

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
	enum sfjit_stacks_end end;
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
	printf("stack");
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
	take(&at, 8);		/* device */
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

static void on_event(struct sfjit_stacks *stacks,
		     const struct perf_event_header *event, uint64_t registers)
{
	const uint8_t *at = (const uint8_t *)(event + 1);

	switch (event->type) {
	case PERF_RECORD_SAMPLE:
		on_sample(stacks, at, registers);
		break;
	case PERF_RECORD_MMAP2:
		on_mmap(stacks, event, at);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		on_task(stacks, event->type, at);
		break;
	case PERF_RECORD_COMM:
		if (event->misc & PERF_RECORD_MISC_COMM_EXEC)
			sfjit_stacks_exec(stacks, take(&at, 4),
					  time_of(event));
	}
}

/* Copy each record: it may wrap around the end of the ring. */
static void read_ring(struct sfjit_stacks *stacks,
		      struct perf_event_mmap_page *page, uint64_t registers)
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
		on_event(stacks, &event.header, registers);
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

/* The child waits until the event is open. */
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

static int profile(struct sfjit_stacks *stacks, pid_t pid, int go)
{
	uint64_t registers = sfjit_stacks_registers(stacks);
	size_t length = (1 + PAGES) * sysconf(_SC_PAGESIZE);
	struct pollfd event = {
		.fd = open_event(pid, registers), .events = POLLIN,
	};
	void *page;

	if (event.fd < 0)
		return -1;
	page = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, event.fd,
		    0);
	if (page == MAP_FAILED)
		return -1;
	close(go);
	while (!waitpid(pid, NULL, WNOHANG)) {
		poll(&event, 1, 100);
		read_ring(stacks, page, registers);
	}
	read_ring(stacks, page, registers);
	return 0;
}

int main(int argc, char **argv)
{
	struct sfjit_stacks *stacks;
	int go[2];
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: profiler COMMAND [ARGUMENT...]\n");
		return 2;
	}
	if (sfjit_stacks_begin(NULL, &stacks))
		return 1;
	pid = start(argv + 1, go);
	if (pid < 0 || profile(stacks, pid, go[1])) {
		fprintf(stderr, "profiler: %s\n", strerror(errno));
		return 1;
	}
	sfjit_stacks_end(stacks);
	return 0;
}
