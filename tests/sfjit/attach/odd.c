// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: attach-odd loads | dispatches | seals | survives
 *
 * Prints "ready", and then
 *
 *	loads		maps code of its own file again and again
 *	dispatches	loops with Syscall User Dispatch on; the first system
 *			call that it intercepts ends it
 *	seals		when a line of input arrives, seals the mappings of
 *			sfjit attach and prints their number
 *	survives	waits, and waits again after whatever would have ended it
 */
#include <fcntl.h>
#include <linux/prctl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE	4096

/* From <asm/unistd_64.h>, Linux 6.10. */
#ifndef SYS_mseal
#define SYS_mseal	462
#endif

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

/* Always at another address, with few mappings to read. */
static void loads(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *at = mmap(NULL, 1UL << 40, PROT_NONE, MAP_PRIVATE |
			MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t i, last = 0;

	say("ready");
	for (i = 0; ; last = i, i = (i + 2 * PAGE) & ((1UL << 40) - 1)) {
		if (mmap(at + i, PAGE, PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			 0) == MAP_FAILED)
			return;
		if (i)
			mmap(at + last, PAGE, PROT_NONE, MAP_PRIVATE |
			     MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	}
}

static volatile char selector = SYSCALL_DISPATCH_FILTER_ALLOW;

static void on_call(int signal)
{
	selector = SYSCALL_DISPATCH_FILTER_ALLOW;
	_exit(2);
}

static void dispatches(void)
{
	signal(SIGSYS, on_call);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		  &selector))
		exit(1);
	say("ready");
	selector = SYSCALL_DISPATCH_FILTER_BLOCK;
	for (;;)
		;
}

static void seals(void)
{
	unsigned long start, end;
	char line[512];
	int sealed = 0;
	FILE *maps;

	say("ready");
	getchar();
	maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/memfd:sfjit-attach") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2 &&
		    !syscall(SYS_mseal, start, end - start, 0UL))
			sealed++;
	fclose(maps);
	printf("%d\n", sealed);
	fflush(stdout);
	pause();
}

static sigjmp_buf back;

static void on_fault(int signal)
{
	siglongjmp(back, 1);
}

/* Works with any stack pointer. */
static void survives(void)
{
	static char memory[1 << 16];
	const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE };
	struct sigaction action = {
		.sa_handler = on_fault, .sa_flags = SA_ONSTACK,
	};
	unsigned int i;

	sigaltstack(&stack, NULL);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	if (!sigsetjmp(back, 1))
		say("ready");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "loads"))
		loads();
	else if (!strcmp(what, "dispatches"))
		dispatches();
	else if (!strcmp(what, "seals"))
		seals();
	else if (!strcmp(what, "survives"))
		survives();
	return 1;
}
