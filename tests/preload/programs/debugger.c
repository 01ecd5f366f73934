// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * debugger start|stop ADDRESS COMMAND...
 *
 * Runs a command with a breakpoint, as gdb does: from the start of the first
 * program that has the address mapped, or from its SIGSTOP. Prints the original
 * byte and how often the breakpoint was hit. Exits with the command's status.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define BREAKPOINT	0xcc

static pid_t child;
static unsigned long address;
static bool is_set;
static unsigned char byte;
static unsigned int met;

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	kill(child, SIGKILL);
	exit(99);
}

static bool peek(unsigned long *word)
{
	errno = 0;
	*word = ptrace(PTRACE_PEEKTEXT, child, address, 0);
	return !errno;
}

static void poke(unsigned char value)
{
	unsigned long word;

	must(peek(&word), "PTRACE_PEEKTEXT");
	word = (word & ~0xffUL) | value;
	must(!ptrace(PTRACE_POKETEXT, child, address, word),
	     "PTRACE_POKETEXT");
}

static void set(void)
{
	unsigned long word;

	if (is_set || !peek(&word))
		return;
	byte = word;
	poke(BREAKPOINT);
	is_set = true;
}

static bool is_met(void)
{
	struct user_regs_struct regs;

	must(!ptrace(PTRACE_GETREGS, child, 0, &regs), "PTRACE_GETREGS");
	return is_set && regs.rip == address + 1;
}

/* Restores the byte and executes one instruction. */
static void step_over(void)
{
	int status;

	poke(byte);
	must(!ptrace(PTRACE_POKEUSER, child,
		     offsetof(struct user_regs_struct, rip), address),
	     "PTRACE_POKEUSER");
	must(!ptrace(PTRACE_SINGLESTEP, child, 0, 0), "PTRACE_SINGLESTEP");
	must(waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
	     WSTOPSIG(status) == SIGTRAP, "a step");
	poke(BREAKPOINT);
}

/* Returns the signal to deliver. */
static int stopped(int status, bool at_start)
{
	if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
		if (at_start)
			set();
		return 0;
	}
	if (WSTOPSIG(status) == SIGSTOP) {
		if (!at_start)
			set();
		return 0;
	}
	if (WSTOPSIG(status) != SIGTRAP || !is_met())
		return WSTOPSIG(status);
	met++;
	step_over();
	return 0;
}

static void start(char **command)
{
	int status;

	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(*command, command);
		_exit(127);
	}
	must(waitpid(child, &status, 0) == child && WIFSTOPPED(status),
	     "PTRACE_TRACEME");
	must(!ptrace(PTRACE_SETOPTIONS, child, 0,
		     PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL),
	     "PTRACE_SETOPTIONS");
}

int main(int argc, char **argv)
{
	int status, signal = 0;
	bool at_start;

	if (argc < 4)
		return 2;
	at_start = !strcmp(argv[1], "start");
	address = strtoul(argv[2], NULL, 16);
	start(argv + 3);
	do {
		must(!ptrace(PTRACE_CONT, child, 0, signal), "PTRACE_CONT");
		must(waitpid(child, &status, 0) == child, "waitpid");
		if (WIFSTOPPED(status))
			signal = stopped(status, at_start);
	} while (WIFSTOPPED(status));
	printf("%02x %u\n", byte, met);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
