// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Callchains at an instruction, on machines without an event for that. The code
 * runs in a traced process that shares the memory, and so the windows. At a
 * breakpoint, a signal stops it once more: the context switch is the event.
 */
#include <signal.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sframe_test.h"

#if SFT_TRACED

#define CHILD_STACK	(16 * SFT_PAGE)
/* The ABI has space above the stack pointer that belongs to the callee. */
#define CHILD_STACK_TOP	(CHILD_STACK - SFT_PAGE)
/* This signal is ignored by default. */
#define NUDGE		SIGWINCH

/**
 * struct breakpoint - where the code stops, once
 * @addr:	the instruction, or NULL
 * @word:	what was there; not 0 while the breakpoint is set
 */
struct breakpoint {
	const void	*addr;
	long		word;
};

/* Each thread traces different processes. */
static __thread struct breakpoint sampled, trapped;
/* The event of @sampled, and the one that writes deferred callchains for it. */
static __thread struct sft_event *event_open;
static __thread int output = -1;
static __thread stack_t signal_stack;

static void set_none(struct sft_event *event)
{
	event->fd = -1;
	event->ring = MAP_FAILED;
}

int sft_break_open(struct sft_event *event, const void *addr, bool defer)
{
	set_none(event);
	event->defer = defer;
	event_open = event;
	sampled.addr = addr;
	return 0;
}

int sft_trap_open(struct sft_event *event, const void *addr)
{
	set_none(event);
	trapped.addr = addr;
	return 0;
}

static void close_output(void)
{
	if (output >= 0)
		close(output);
	output = -1;
}

void sft_break_close(const struct sft_event *event)
{
	if (event != event_open) {
		trapped.addr = NULL;
		return;
	}
	close_output();
	sampled.addr = NULL;
	event_open = NULL;
}

/* clone() with CLONE_VM disables the alternate signal stack. */
static int child(void *call)
{
	sigaltstack(&signal_stack, NULL);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	kill(getpid(), SIGSTOP);
	sft_run_here(call);
	kill(getpid(), SIGSTOP);
	return 0;
}

/* A disabled event writes no deferred callchain, so open an enabled one. */
static int open_output(struct sft_event *event, pid_t pid)
{
	struct perf_event_attr attr;

	sft_attr_init(&attr, PERF_TYPE_SOFTWARE, true);
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.disabled = 0;
	output = syscall(__NR_perf_event_open, &attr, pid, -1, event->fd,
			 PERF_FLAG_FD_CLOEXEC | PERF_FLAG_FD_OUTPUT |
			 PERF_FLAG_FD_NO_GROUP);
	return output < 0 ? -errno : 0;
}

static void close_event(struct sft_event *event)
{
	if (event->ring != MAP_FAILED)
		sft_event_close_ring(event);
	close_output();
}

/* Replace the last event, which was of another process. */
static int open_event(struct sft_event *event, pid_t pid)
{
	struct perf_event_attr attr;
	int ret;

	close_event(event);
	sft_attr_init(&attr, PERF_TYPE_SOFTWARE, event->defer);
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.defer_output = 0;
	ret = sft_event_open_of(event, &attr, pid, -1);
	if (!ret && event->defer)
		ret = open_output(event, pid);
	return ret;
}

static void set_breakpoint(pid_t pid, struct breakpoint *point)
{
	const unsigned int shift = 64 - 8 * SFT_BREAK_SIZE;

	if (!point->addr)
		return;
	point->word = ptrace(PTRACE_PEEKTEXT, pid, point->addr, 0);
	ptrace(PTRACE_POKETEXT, pid, point->addr,
	       (SFT_BREAK_INSN << shift) |
	       (point->word & ((1UL << shift) - 1)));
}

static void remove_breakpoint(pid_t pid, struct breakpoint *point)
{
	if (point->word)
		ptrace(PTRACE_POKETEXT, pid, point->addr, point->word);
	point->word = 0;
}

/* Continue @pid with @sig; returns the signal that stops it, or -1. */
static int go_on(pid_t pid, int sig)
{
	int status;

	if (ptrace(PTRACE_CONT, pid, 0, sig) ||
	    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return -1;
	return WSTOPSIG(status);
}

/* If it stopped at the breakpoint, go back to the instruction. */
static bool is_at(pid_t pid, struct breakpoint *point)
{
	const uintptr_t addr = (uintptr_t)point->addr;

	if (!point->word || addr + SFT_BREAK_SIZE !=
			    ptrace(PTRACE_PEEKUSER, pid, SFT_PEEK_IP, 0))
		return false;
	remove_breakpoint(pid, point);
	ptrace(PTRACE_POKEUSER, pid, SFT_PEEK_IP, addr);
	return true;
}

/* Sample @pid where it is; a deferred callchain follows when it continues. */
static int sample(pid_t pid)
{
	ioctl(event_open->fd, PERF_EVENT_IOC_REFRESH, 1);
	kill(pid, NUDGE);
	return go_on(pid, 0) == NUDGE ? go_on(pid, 0) : -1;
}

static void run_traced(pid_t pid)
{
	int stop;

	set_breakpoint(pid, &sampled);
	set_breakpoint(pid, &trapped);
	stop = go_on(pid, 0);
	while (stop >= 0) {
		if (is_at(pid, &sampled))
			stop = sample(pid);
		else if (is_at(pid, &trapped))
			stop = go_on(pid, SIGTRAP);
		else if (stop != SIGSTOP)
			stop = go_on(pid, stop);
		else
			break;
	}
	/* This process shares the memory. */
	remove_breakpoint(pid, &sampled);
	remove_breakpoint(pid, &trapped);
	go_on(pid, 0);
}

void sft_run(const struct sft_call *call)
{
	char *stack;
	int status;
	pid_t pid;

	if (!sampled.addr && !trapped.addr) {
		sft_run_here(call);
		return;
	}

	sigaltstack(NULL, &signal_stack);
	stack = sft_map(CHILD_STACK, SFT_RW);
	pid = stack ? clone(child, stack + CHILD_STACK_TOP, CLONE_VM | SIGCHLD,
			    (void *)call) : -1;
	/* It must not outlive this process. */
	if (pid < 0 || waitpid(pid, &status, __WALL) != pid ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL) ||
	    (event_open && open_event(event_open, pid)))
		abort();
	run_traced(pid);
	munmap(stack, CHILD_STACK);
}

#else

void sft_run(const struct sft_call *call)
{
	sft_run_here(call);
}

void sft_break_close(const struct sft_event *event)
{
}

#endif
