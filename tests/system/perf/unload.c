// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: unload LIBRARY...
 *
 * Loads each library where the one before it was, and calls its through():
 * main > middle > through > leaf, which runs for half a second of processor
 * time. With -DLIBRARY=NAME this is a library, in which through() is called
 * NAME; -DFRAME is bytes of its frame.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef LIBRARY
#define TEXT(name)	#name
#define QUOTED(name)	TEXT(name)

/* Only the frame size differs, not the place of an instruction. */
__asm__(
"	.text\n"
"	.globl " QUOTED(LIBRARY) "\n"
"	.type " QUOTED(LIBRARY) ", @function\n"
QUOTED(LIBRARY) ":\n"
"	.cfi_startproc\n"
"	subq $" QUOTED(FRAME) ", %rsp\n"
"	.cfi_adjust_cfa_offset " QUOTED(FRAME) "\n"
"	call *%rdi\n"
"	addq $" QUOTED(FRAME) ", %rsp\n"
"	.cfi_adjust_cfa_offset -" QUOTED(FRAME) "\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size " QUOTED(LIBRARY) ", . - " QUOTED(LIBRARY) "\n");

void LIBRARY(void (*call)(void));
void (*const through)(void (*call)(void)) = LIBRARY;
#else
#define NOINLINE	__attribute__((noinline, noclone))
#define TURN_NS		500000000L

typedef void through_fn(void (*call)(void));

static volatile unsigned long sum;

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

NOINLINE static void leaf(void)
{
	int i;

	for (i = 0; i < 1000000; i++)
		sum += i;
}

NOINLINE static void middle(through_fn *through)
{
	through(leaf);
	sum++;
}

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "unload: %s\n", what);
	exit(1);
}

static void *run(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	through_fn *const *through;
	long end = now() + TURN_NS;
	Dl_info info;

	must(library != NULL, path);
	through = dlsym(library, "through");
	must(through && dladdr(through, &info), "through");
	while (now() < end)
		middle(*through);
	must(!dlclose(library), "dlclose");
	return info.dli_fbase;
}

int main(int argc, char **argv)
{
	void *base = NULL, *next;
	int i;

	for (i = 1; i < argc; i++) {
		next = run(argv[i]);
		must(!base || next == base, "not where the other one was");
		base = next;
	}
	return 0;
}
#endif
