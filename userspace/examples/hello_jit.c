// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A JIT with one function: emit, describe, register, name, call, retire.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <sfjit.h>

/* int f(int (*g)(int), int n) { return g(n) + 1; } without frame pointer */
static const unsigned char code[] = {
	0x53,				/* push %rbx */
	0x48, 0x89, 0xf8,		/* mov %rdi,%rax */
	0x89, 0xf7,			/* mov %esi,%edi */
	0xff, 0xd0,			/* call *%rax */
	0xff, 0xc0,			/* inc %eax */
	0x5b,				/* pop %rbx */
	0xc3,				/* ret */
};

/* README.md shows what is between these marks. begin */
#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)

/* offset, flags, stack pointer before the call, return address, rbp */
static const struct sfjit_row rows[] = {
	{ 0, 0, SP(8), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 1, 0, SP(16), SFJIT_NO_RULE, SFJIT_NO_RULE },	/* push %rbx */
	{ 11, 0, SP(8), SFJIT_NO_RULE, SFJIT_NO_RULE },	/* pop %rbx */
};

static _Alignas(16) unsigned char section[256];	/* lives as long as the code */

static int publish(void *text, size_t size)
{
	struct sfjit_function f = { (uintptr_t)text, size, 3, rows, 0, 0 };
	long length = sfjit_section_fill(section, sizeof(section), &f, 1);

	if (length < 0)
		return length;
	sfjit_perf_map_name(text, size, "hello::plus_one");
	return sfjit_register((uintptr_t)text, section, length, text, size);
}
/* end */

static int retire(void *text, size_t size)
{
	sfjit_unregister((uintptr_t)text);	/* before munmap() */
	return munmap(text, size);
}

static int twice(int n)
{
	return 2 * n;
}

int main(void)
{
	unsigned char *text = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (text == MAP_FAILED)
		return 1;
	memcpy(text, code, sizeof(code));
	if (mprotect(text, 4096, PROT_READ | PROT_EXEC))
		return 1;
	ret = publish(text, sizeof(code));
	if (ret)	/* the program runs anyway, with truncated stacks */
		fprintf(stderr, "cannot register: %s\n", strerror(-ret));

	printf("%d\n", ((int (*)(int (*)(int), int))text)(twice, 20));

	return retire(text, 4096) ? 1 : 0;
}
