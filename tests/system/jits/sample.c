// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A sample of itself, for test_oracle.py. Prints lines with hexadecimal numbers:
 *
 *	reg VALUE	each register that tests/kernel/replay/recorder.c takes, in order
 *	ip ADDRESS	each frame as the C compiler's unwinder finds it
 *	stack BYTES	from the stack pointer on
 */
#include <execinfo.h>
#include <stdio.h>
#include <ucontext.h>

#define APART	__attribute__((noinline, noclone, noipa))
#define FRAMES	64

/* In the order of asm/perf_regs.h; cs and ss do not matter. */
static const int regs[] = {
	REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_RIP, REG_EFL, -1, -1, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12,
	REG_R13, REG_R14, REG_R15
};

/* Where _start found its arguments. */
extern void *__libc_stack_end;

static volatile int sum;

static void print_stack(const unsigned char *from, const unsigned char *end)
{
	printf("stack ");
	while (from < end)
		printf("%02x", *from++);
	printf("\n");
}

/* The frame is the same at getcontext() and at backtrace(). */
APART int inner(void *top)
{
	void *frames[FRAMES];
	ucontext_t context;
	greg_t *gregs = context.uc_mcontext.gregs;
	int i, nr;

	getcontext(&context);
	nr = backtrace(frames, FRAMES);
	for (i = 0; i < (int)(sizeof(regs) / sizeof(regs[0])); i++)
		printf("reg %llx\n", regs[i] < 0 ? 0 : gregs[regs[i]]);
	printf("ip %llx\n", gregs[REG_RIP]);
	for (i = 1; i < nr; i++)
		printf("ip %lx\n", (long)frames[i]);
	print_stack((const unsigned char *)gregs[REG_RSP], top);
	return ++sum;
}

APART int middle(void *top)
{
	return inner(top) + sum;
}

APART int outer(void *top)
{
	return middle(top) + sum;
}

/* The text has two pages. */
__asm__(".pushsection .text\n\t.skip 4096, 0xcc\n\t.popsection");

static void print_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];

	while (fgets(line, sizeof(line), file))
		printf("map %s", line);
	fclose(file);
}

int main(void)
{
	print_maps();
	return outer(__libc_stack_end) < 0;
}
