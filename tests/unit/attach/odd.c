// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: attach-odd survives
 *
 * Prints "ready", and then
 *
 *	survives	waits, and does so again after whatever would have ended it
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static sigjmp_buf back;

static void on_fault(int signal)
{
	siglongjmp(back, 1);
}

/* Whatever the stack pointer is. */
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

	if (!strcmp(what, "survives"))
		survives();
	return 1;
}
