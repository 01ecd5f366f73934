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

#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)

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

static const struct sfjit_row rows[] = {
	{ 0, 0, SP(8), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 1, 0, SP(16), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 11, 0, SP(8), SFJIT_NO_RULE, SFJIT_NO_RULE },
};

static int twice(int n)
{
	return 2 * n;
}

int main(void)
{
	static unsigned char section[256];	/* as long-lived as the code */
	unsigned char *text = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sfjit_function f = { (uintptr_t)text, sizeof(code), 3, rows,
				    0, 0 };
	long size;
	int ret;

	if (text == MAP_FAILED)
		return 1;
	memcpy(text, code, sizeof(code));
	if (mprotect(text, 4096, PROT_READ | PROT_EXEC))
		return 1;
	size = sfjit_section_fill(section, sizeof(section), &f, 1);
	ret = size < 0 ? size : sfjit_register((uintptr_t)text, section, size,
					       text, sizeof(code));
	if (ret)	/* never a reason to stop: stacks are shorter */
		fprintf(stderr, "not registered: %s\n", strerror(-ret));
	sfjit_perf_map_name(text, sizeof(code), "hello::plus_one");

	printf("%d\n", ((int (*)(int (*)(int), int))text)(twice, 20));

	sfjit_unregister((uintptr_t)text);
	return munmap(text, 4096) ? 1 : 0;
}
