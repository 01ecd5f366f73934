/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Processes by number and time: numbers are used again.
 */
#ifndef SFJIT_STACKS_PROCESS_H
#define SFJIT_STACKS_PROCESS_H

#include <sys/types.h>

#include "history.h"

/* Generated code lies on top of what is mapped. */
enum process_layer { PROCESS_MAPS, PROCESS_CODE, PROCESS_LAYERS };

/* That are remembered: files of a container are theirs, too. */
#define PROCESS_ANCESTORS	3

struct process {
	pid_t pid;
	pid_t ancestors[PROCESS_ANCESTORS];	/* 0: not known */
	uint64_t start;			/* time */
	uint64_t end;			/* of the last thread; FOREVER: alive */
	unsigned int threads;		/* that are known */
	bool lasting;			/* its other threads are not */
	struct history layers[PROCESS_LAYERS];
	struct process *before;		/* of the same number */
	struct process *parent;		/* as long as 'start' is not settled */
	LIST_HEAD(, process) children;
	LIST_ENTRY(process) sibling;
	LIST_ENTRY(process) all;
};

LIST_HEAD(process_list, process);

struct processes {
	void *by_pid;			/* tsearch(): the latest of each number */
	struct process_list all;
	struct histories histories;
	uint64_t nr;
};

void processes_init(struct processes *processes);
void processes_clear(struct processes *processes);

/* The process with that pid at that time; NULL: none is known. */
struct process *process_find(struct processes *processes, pid_t pid,
			     uint64_t time);

/* The same, or a new one that was always there; NULL: no memory. */
struct process *process_get(struct processes *processes, pid_t pid,
			    uint64_t time);

/* See sfjit_stacks_fork(): a process, not a thread. */
int process_fork(struct processes *processes, pid_t pid, pid_t parent,
		 uint64_t time);

void process_thread(struct process *process, pid_t tid);
void process_exit(struct process *process, uint64_t time);

/*
 * Records that memory was mapped or unmapped, or code generated; also in
 * processes that were forked after that time. Unmapping, or mapping a file,
 * removes generated code; mprotect() makes anonymous memory executable again
 * and again.
 */
typedef int process_paint_fn(struct process *process,
			     const struct paint *paint);

process_paint_fn process_map, process_generate;

/* NULL: nothing is known there. */
const struct piece *process_piece(const struct process *process, uint64_t addr,
				  uint64_t time);

void processes_settle(struct processes *processes, uint64_t time);

#endif /* SFJIT_STACKS_PROCESS_H */
