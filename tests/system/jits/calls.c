// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Calls of each kind, by test_judge.py: prints the functions with their
 * addresses and those they return to, as they are in the file.
 */
#include <stdio.h>

#define APART __attribute__((noinline, noclone, noipa))

extern char __executable_start;

static volatile int sum;

static long where(void *address)
{
	return (char *)address - &__executable_start;
}

#define SAY(name) \
	printf(#name " %lx %lx\n", where(name), \
	       where(__builtin_return_address(0)))

APART int inner(int n)
{
	SAY(inner);
	return ++sum;
}

APART int middle(int n)
{
	SAY(middle);
	return inner(n + 1) + sum;
}

APART int outer(int n)
{
	SAY(outer);
	return middle(n + 1) + sum;
}

APART int last(int n)
{
	SAY(last);
	return ++sum;
}

/* Ends with a jump. */
APART int jumper(int n)
{
	SAY(jumper);
	return last(n + 1);
}

APART int caller(int n)
{
	SAY(caller);
	return jumper(n + 1) + sum;
}

APART int pointed(int n)
{
	SAY(pointed);
	return ++sum;
}

static int (*volatile pointer)(int) = pointed;

APART int by_pointer(int n)
{
	SAY(by_pointer);
	return pointer(n) + sum;
}

/* Without call frame information. */
int bare(int n);
__asm__(".text\n.type bare, @function\nbare: mov %edi, %eax; nop; ret");

/* Ends with a jump there, for whose return address it speaks. */
APART int jumper_to_bare(int n)
{
	SAY(jumper_to_bare);
	printf("bare %lx %lx\n", where(bare),
	       where(__builtin_return_address(0)));
	return bare(n + 1);
}

APART int caller_of_bare(int n)
{
	SAY(caller_of_bare);
	return jumper_to_bare(n + 1) + sum;
}

/* Empty, so that it can be made to lead elsewhere; and what calls it. */
APART void __jit_debug_register_code(void)
{
}

int caller_of_empty(void), behind_empty(void);
__asm__(".text\n.type caller_of_empty, @function\n"
	"caller_of_empty: .cfi_startproc\n"
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
	"call __jit_debug_register_code\n"
	"behind_empty: add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
	"ret\n.cfi_endproc");

APART void call_empty(void)
{
	printf("__jit_debug_register_code %lx %lx\n",
	       where(__jit_debug_register_code), where(behind_empty));
	caller_of_empty();
}

APART void writes(void)
{
	sum++;
}

APART void tells(void)
{
	sum--;
}

/* Goes on elsewhere, as libgcc's unwinder does; it is never called. */
APART __attribute__((optimize("no-omit-frame-pointer")))
void goes_on(long up, void *at)
{
	tells();
	writes();
	tells();
	__builtin_eh_return(up, at);
}

int main(void)
{
	SAY(main);
	printf("goes_on %lx 0\nwrites %lx 0\ntells %lx 0\n", where(goes_on),
	       where(writes), where(tells));
	call_empty();
	return outer(1) + caller(1) + by_pointer(1) + caller_of_bare(1) < 0;
}
