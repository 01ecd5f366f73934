// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * call CODE: calls a trampoline of CPython, for rows.py to step through.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* CPython's evaluator. */
__attribute__((noinline, noclone))
long step_target(long a, long b, long c)
{
	return a * 100 + b * 10 + c;
}

__attribute__((noinline, noclone))
void step_begin(const void *entry)
{
	asm volatile("" : : "r" (entry) : "memory");
}

typedef long evaluator(long, long, long);
typedef long trampoline(long, long, long, evaluator *);

int main(int argc, char **argv)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	size_t length;

	if (code == MAP_FAILED || !file)
		return 2;
	length = fread(code, 1, 4096, file);
	if (!length || mprotect(code, 4096, PROT_READ | PROT_EXEC))
		return 2;
	__builtin___clear_cache(code, (char *)code + length);
	step_begin(code);
	return ((trampoline *)code)(1, 2, 3, step_target) != 123;
}
