// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * s390x for edges.c. Events of the machine do not identify an instruction, so
 * we trace a process that shares the memory. At a breakpoint it steps back to
 * the instruction and receives a signal that stops it again: an event with the
 * registers of the instruction.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asm/ptrace.h>

#include "../lib/tap.h"
#include "edges.h"

#define STACK_SIZE	65536
/* The callee owns this area above the stack pointer. */
#define SAVE_AREA	160
/* Ignored by default, so it has no effect. */
#define NUDGE		SIGWINCH

/*
 * In the first entry stg, larl, mvc, lg, br; in others larl, lg, br, and where
 * that leads to before the function is bound: basr, lgf, jg.
 */
const struct edges_linkage edges_linkage = {
	.header_size = 32, .entry_size = 32,
	.header = { 0, 6, 12, 18, 24 }, .header_insns = 5,
	.entry = { 0, 6, 12, 14, 16, 22 }, .entry_insns = 6, .bound_insns = 3,
	.vdso_frames = 2,
};

static void wait_here(void)
{
	syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
}

static int run(void *call)
{
	MUST(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	wait_here();
	((void (*)(struct event *))call)(NULL);
	wait_here();
	return 0;
}

/* The signal that it stops at. */
static int go_on(pid_t pid)
{
	int status;

	MUST(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	MUST(waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status));
	return WSTOPSIG(status);
}

/* 00 01, no instruction: what debuggers take. */
static long set_breakpoint(pid_t pid, uintptr_t at)
{
	long word = ptrace(PTRACE_PEEKTEXT, pid, at, NULL);

	MUST(!ptrace(PTRACE_POKETEXT, pid, at,
		     (void *)(1L << 48 | (word & ((1L << 48) - 1)))));
	return word;
}

/* An event that is disabled has no deferred callchains written. */
static int open_output(const struct event *event, pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
	};
	int fd;

	edges_fill(&attr);
	attr.disabled = 0;
	fd = syscall(SYS_perf_event_open, &attr, pid, -1, event->fd,
		     PERF_FLAG_FD_CLOEXEC | PERF_FLAG_FD_OUTPUT |
		     PERF_FLAG_FD_NO_GROUP);
	MUST(fd >= 0);
	return fd;
}

static void sample(const struct event *event, pid_t pid)
{
	MUST(!ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 1));
	MUST(!kill(pid, NUDGE));
	MUST(go_on(pid) == NUDGE);
}

static void run_traced(const struct event *event, pid_t pid, uintptr_t at)
{
	long word = set_breakpoint(pid, at);

	IS("it stops there", go_on(pid), SIGTRAP);
	MUST(ptrace(PTRACE_PEEKUSER, pid, PT_PSWADDR, NULL) == (long)at + 2);
	MUST(!ptrace(PTRACE_POKETEXT, pid, at, (void *)word));
	MUST(!ptrace(PTRACE_POKEUSER, pid, PT_PSWADDR, (void *)at));
	sample(event, pid);
	MUST(go_on(pid) == SIGSTOP);
}

void edges_stop_at(struct event *event, uintptr_t at,
		   void (*call)(struct event *event))
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .sample_period = 1,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status, output = -1;
	pid_t pid;

	MUST(stack != MAP_FAILED);
	pid = clone(run, stack + STACK_SIZE - SAVE_AREA, CLONE_VM | SIGCHLD,
		    call);
	MUST(pid > 0 && waitpid(pid, &status, __WALL) == pid);
	edges_fill(&attr);
	/* It is the kernel that waits. */
	attr.exclude_kernel = 0;
	edges_open(event, &attr, pid);
	if (event->deferred)
		output = open_output(event, pid);
	run_traced(event, pid, at);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	MUST(waitpid(pid, &status, __WALL) == pid && WIFEXITED(status));
	if (output >= 0)
		close(output);
	munmap(stack, STACK_SIZE);
}
