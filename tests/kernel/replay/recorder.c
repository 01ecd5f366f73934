// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: recorder FILE PERIOD COMMAND [ARG...]
 *
 * Samples COMMAND and its children every PERIOD nanoseconds of CPU time: user
 * registers, the top of the stack and the kernel's callchain in the same
 * sample, alternating between immediate and deferred callchains. Writes them to
 * FILE with the windows of the processes and their sections, as a sequence of
 * struct record of record.h. Ends with COMMAND's status.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <asm/perf_regs.h>

#include "record.h"

#define PAGE		4096
#define RING_SIZE	(32u << 20)
#define MAX_CPUS	16
#define POLL_MS		5

/* New in Linux 6.19; the headers of the host are older. */
#define ATTR_DEFER	(3ull << 38)

/* All of a 64-bit task's but the segments of data. */
#define REGS	(((1ull << PERF_REG_X86_64_MAX) - 1) & \
		 ~(1ull << PERF_REG_X86_DS | 1ull << PERF_REG_X86_ES | \
		   1ull << PERF_REG_X86_FS | 1ull << PERF_REG_X86_GS))

static struct ring {
	int fd;
	bool deferred;
	struct perf_event_mmap_page *head;
	const char *data;
} rings[2 * MAX_CPUS];

static unsigned int nr_rings;

static void set_defer(struct perf_event_attr *attr)
{
	char *flags = (char *)&attr->read_format + sizeof(attr->read_format);
	uint64_t bits;

	memcpy(&bits, flags, sizeof(bits));
	bits |= ATTR_DEFER;
	memcpy(flags, &bits, sizeof(bits));
}

static void open_ring(pid_t pid, int cpu, uint64_t period, bool deferred)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = period,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGS,
		.sample_stack_user = RECORD_STACK,
		.exclude_callchain_kernel = 1,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	struct ring *ring = &rings[nr_rings++];

	if (deferred)
		set_defer(&attr);
	ring->deferred = deferred;
	ring->fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);
	if (ring->fd < 0)
		err(2, "perf_event_open");
	ring->head = mmap(NULL, PAGE + RING_SIZE, PROT_READ | PROT_WRITE,
			  MAP_SHARED, ring->fd, 0);
	if (ring->head == MAP_FAILED)
		err(2, "ring");
	ring->data = (const char *)ring->head + PAGE;
}

/* A record may go on at the ring's front. */
static void copy_out(const struct ring *ring, uint64_t at, void *to,
		     size_t size)
{
	size_t off = at % RING_SIZE, first = RING_SIZE - off;

	if (first > size)
		first = size;
	memcpy(to, ring->data + off, first);
	memcpy((char *)to + first, ring->data, size - first);
}

static void take_record(const struct perf_event_header *head, const void *body,
			bool deferred)
{
	const uint32_t *ids = body;
	size_t size = head->size - sizeof(*head);

	record_write(head->type, head->misc | deferred * RECORD_DEFERRED, body,
		     size, NULL, 0);
	if (head->type == PERF_RECORD_SAMPLE)
		process_seen(ids[0]);
	if (head->type == PERF_RECORD_LOST)
		fprintf(stderr, "recorder: samples were lost\n");
}

static void drain(struct ring *ring)
{
	static char body[1 << 16];
	struct perf_event_header head;
	uint64_t end = __atomic_load_n(&ring->head->data_head,
				       __ATOMIC_ACQUIRE);
	uint64_t at = ring->head->data_tail;

	while (at < end) {
		copy_out(ring, at, &head, sizeof(head));
		copy_out(ring, at + sizeof(head), body,
			 head.size - sizeof(head));
		take_record(&head, body, ring->deferred);
		at += head.size;
	}
	__atomic_store_n(&ring->head->data_tail, at, __ATOMIC_RELEASE);
}

/* The command waits until it is sampled. */
static pid_t start(char **command, int *go)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends))
		err(2, "pipe");
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(2);
		execvp(command[0], command);
		err(127, "%s", command[0]);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

/* On one CPU with the command: rings must not be full when it goes on. */
static void go_first(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		warn("samples may be lost: sched_setscheduler");
}

static void record_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_rings; i++)
		drain(&rings[i]);
	processes_look();
}

static int follow(pid_t pid)
{
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		poll(NULL, 0, POLL_MS);
		record_all();
	}
	record_all();
	processes_end();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	uint64_t period;
	pid_t pid;
	int go;

	if (argc < 4 || cpus > MAX_CPUS)
		errx(2, "usage: recorder FILE PERIOD COMMAND [ARG...]");
	record_open(argv[1]);
	period = strtoull(argv[2], NULL, 0);
	pid = start(argv + 3, &go);
	for (cpu = 0; cpu < cpus; cpu++) {
		open_ring(pid, cpu, period, false);
		open_ring(pid, cpu, period, true);
	}
	go_first();
	if (write(go, "", 1) != 1)
		err(2, "pipe");
	return follow(pid);
}
