// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: sample [bare | pointer]
 *
 * A sample of itself, for test_oracle.py. Prints lines with hexadecimal numbers:
 *
 *	reg VALUE	each register that tests/kernel/replay/recorder.c takes, in order
 *	ip ADDRESS	each frame as the C compiler's unwinder finds it
 *	stack BYTES	from the stack pointer on
 *	leaf ADDRESS	a function without call frame information or a frame
 *	after ADDRESS	where it returns to: to the innermost frame
 *	entry ADDRESS	the beginning of the innermost function
 *
 * With an argument a function without call frame information, but with a frame
 * record, is among the callers, and is called by its name or by a pointer.
 */
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
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

/* Assembly without .cfi_*. */
int bare(void *top);
void leaf(void);
extern char after_leaf[];
asm("bare: push %rbp; mov %rsp, %rbp; call middle; pop %rbp; ret\n"
    ".type bare, @function; .size bare, . - bare\n"
    "leaf: nop; ret\n"
    ".type leaf, @function; .size leaf, . - leaf");

static int (*volatile by_pointer)(void *top) = bare;
static const char *how = "";

/* The callers of outer(), which the compiler's unwinder does not get to. */
static void *callers[FRAMES];
static int nr_callers;

static void print_callers(void **record)
{
	int i;

	/* That of bare(), then that of outer(). */
	record = *record;
	printf("ip %lx\n", (long)record[1]);
	for (i = 1; i < nr_callers; i++)
		printf("ip %lx\n", (long)callers[i]);
}

/* The frame is the same at getcontext(), backtrace() and leaf(). */
APART int inner(void *top)
{
	static void *frames[FRAMES];
	ucontext_t context;
	greg_t *gregs = context.uc_mcontext.gregs;
	int i, nr;

	getcontext(&context);
	nr = backtrace(frames, FRAMES);
	asm volatile("call leaf; after_leaf:");
	for (i = 0; i < (int)(sizeof(regs) / sizeof(regs[0])); i++)
		printf("reg %llx\n", regs[i] < 0 ? 0 : gregs[regs[i]]);
	printf("ip %llx\n", gregs[REG_RIP]);
	if (*how) {
		nr = 3;
		frames[2] = ((void ***)__builtin_frame_address(0))[0][1];
	}
	for (i = 1; i < nr; i++)
		printf("ip %lx\n", (long)frames[i]);
	if (*how)
		print_callers(*(void **)__builtin_frame_address(0));
	printf("leaf %lx\nafter %lx\nentry %lx\n", (long)leaf,
	       (long)after_leaf, (long)inner);
	print_stack((const unsigned char *)gregs[REG_RSP], top);
	return ++sum;
}

APART int middle(void *top)
{
	return inner(top) + sum;
}

APART int outer(void *top)
{
	if (!*how)
		return middle(top) + sum;
	nr_callers = backtrace(callers, FRAMES);
	return (strcmp(how, "bare") ? by_pointer(top) : bare(top)) + sum;
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

int main(int argc, char **argv)
{
	if (argc > 1)
		how = argv[1];
	print_maps();
	return outer(__libc_stack_end) < 0;
}
