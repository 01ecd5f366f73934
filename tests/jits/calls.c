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

int main(void)
{
	SAY(main);
	return outer(1) + caller(1) + by_pointer(1) < 0;
}
