// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: edges [DIRECTORY]
 *
 * Known calls: main > outer > middle > leaf, which uses a second of CPU time.
 *
 * With DIRECTORY middle calls two generated functions, which call leaf. They
 * alternate at one address, with frames of different sizes, and their jitdump
 * is in DIRECTORY. With a further argument a third function without a
 * description comes between them; it keeps a frame pointer.
 */
#define _GNU_SOURCE
#include <sfjit.h>
#include <sfjit/names.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tap.h"
#include "middle.h"

#define TURNS		10
#define TURN_NS		100000000L

/* Calls its argument. */
static const unsigned char small[] = {
	0x53,				/* push %rbx */
	0xff, 0xd7,			/* call *%rdi */
	0x5b,				/* pop %rbx */
	0xc3,				/* ret */
};

static const unsigned char large[] = {
	0x48, 0x83, 0xec, 0x78,		/* sub $120, %rsp */
	0xff, 0xd7,			/* call *%rdi */
	0x48, 0x83, 0xc4, 0x78,		/* add $120, %rsp */
	0xc3,				/* ret */
};

static const unsigned char plain[] = {
	0x55,				/* push %rbp */
	0x48, 0x89, 0xe5,		/* mov %rsp, %rbp */
	0xff, 0xd7,			/* call *%rdi */
	0x5d,				/* pop %rbp */
	0xc3,				/* ret */
};

#define ROW(at, offset) \
	{ at, 0, SFJIT_REG(SFJIT_X86_64_SP, offset), SFJIT_NO_RULE, \
	  SFJIT_NO_RULE }

static const struct sfjit_row small_rows[] = {
	ROW(0, 8), ROW(1, 16), ROW(4, 8)
};

static const struct sfjit_row large_rows[] = {
	ROW(0, 8), ROW(4, 128), ROW(10, 8)
};

static unsigned char *text;
static size_t live;		/* described bytes */
static bool with_plain;

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* The caller of the sampled function reads the clock. */
NOINLINE static void leaf(void)
{
	int i;

	for (i = 0; i < 1000000; i++)
		sum += i;
}

static void write_code(const unsigned char *code, size_t size)
{
	if (live)
		MUST(!sfjit_names_drop(text, live));
	live = 0;
	MUST(!mprotect(text, 4096, PROT_READ | PROT_WRITE));
	memcpy(text, code, size);
	MUST(!mprotect(text, 4096, PROT_READ | PROT_EXEC));
}

static void generate(const unsigned char *code, size_t size,
		     const struct sfjit_row *rows, const char *name)
{
	struct sfjit_function f = { (uintptr_t)text, size, 3, rows, 0, 0 };

	write_code(code, size);
	MUST(!sfjit_names_load(&f, 4096 - size, name));
	live = size;
}

static void (*turn(int i))(void (*)(void))
{
	if (!text)
		return NULL;
	if (with_plain && i % 3 == 2)
		write_code(plain, sizeof(plain));
	else if (i % 2)
		generate(large, sizeof(large), large_rows, "large");
	else
		generate(small, sizeof(small), small_rows, "small");
	return (void (*)(void (*)(void)))text;
}

NOINLINE static void outer(void)
{
	void (*call)(void (*)(void));
	long end;
	int i;

	for (i = 0; i < TURNS; i++) {
		call = turn(i);
		end = now() + TURN_NS;
		while (now() < end)
			middle(call);
	}
	sum++;
}

int main(int argc, char **argv)
{
	not_the_test();
	if (argc > 1) {
		MUST(!sfjit_names_open(SFJIT_NAMES_JITDUMP, argv[1]));
		text = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		MUST(text != MAP_FAILED);
		with_plain = argc > 2;
	}
	outer();
	return argc > 1 && sfjit_names_close();
}
