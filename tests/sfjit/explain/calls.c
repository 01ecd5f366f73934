// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A program of its own functions only: _start() > outer() > middle() > leaf(),
 * which works for about a second. The compiler flags decide which CFI exists;
 * with BARE there is none, with GAP none for a function on the way, and with
 * COPY that function is in anonymous memory.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "../inject/middle.h"

extern int call_leaf[];

#ifdef BARE
#define CFI(directive)	""
#else
#define CFI(directive)	directive "\n"
#endif

asm(".text\n"
    ".globl call_leaf\n"
    "call_leaf:\n"
    "	push %rbx\n"
    "	call *%rdi\n"
    "	pop %rbx\n"
    "	ret\n"
    ".globl _start\n"
    "_start:\n"
    CFI(".cfi_startproc")
    CFI(".cfi_undefined rip")
    "	xor %ebp, %ebp\n"
    "	call outer\n"
    "	mov %eax, %edi\n"
    "	mov $60, %eax\n"	/* exit */
    "	syscall\n"
    CFI(".cfi_endproc"));

NOINLINE static void leaf(void)
{
	unsigned long i;

	for (i = 0; i < 400000000; i++)
		sum += i;
}

#ifdef COPY
static long system_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d, r8 asm("r8") = e, r9 asm("r9") = f;
	long ret;

	asm volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c),
		     "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return ret;
}

static void *copy(void)
{
	char *to = (void *)system_call(__NR_mmap, 0, 4096, 7,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; i < 5; i++)
		to[i] = ((char *)call_leaf)[i];
	return to;
}
#endif

__attribute__((used)) NOINLINE int outer(void)
{
	void *call = 0;

#ifdef GAP
	call = call_leaf;
#endif
#ifdef COPY
	call = copy();
#endif
	middle(call);
	return sum != 79999999800000001;
}
