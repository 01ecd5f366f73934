/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef REPLAY_RECORD_H
#define REPLAY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/perf_event.h>

/* Bytes of a stack that a sample has. */
#define RECORD_STACK	49152

/*
 * Records of the recorder. type is PERF_RECORD_*, followed by the rest of the
 * kernel's record, or one of these.
 */
enum {
	RECORD_WINDOWS = 1000,	/* struct record_windows, lines */
	RECORD_SECTION,		/* struct record_section, its bytes */
	RECORD_COUNTS,		/* struct record_counts, lines */
};

struct record {
	uint32_t type;
	uint32_t misc;		/* the kernel's, and RECORD_DEFERRED */
	uint64_t size;		/* of what follows */
};

/* From an event with deferred callchains. */
#define RECORD_DEFERRED	0x10000

/* The windows of a process, as /proc/PID/sframe has them, at both times. */
struct record_windows {
	uint64_t pid;
	uint64_t since, time;	/* CLOCK_MONOTONIC */
};

/* Why the kernel ended stacks of a process until then, as the file has it. */
struct record_counts {
	uint64_t pid;
	uint64_t time;		/* CLOCK_MONOTONIC */
};

struct record_section {
	uint64_t pid;
	uint64_t addr;
};

void record_open(const char *path);
/* 'more' follows the body. */
void record_write(uint32_t type, uint32_t misc, const void *body, size_t size,
		  const void *more, size_t more_size);

/* A sample of this process has come. */
void process_seen(pid_t pid);
/* Note the windows of all of them. */
void processes_look(void);
void processes_end(void);

#endif
