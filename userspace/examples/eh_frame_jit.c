// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * An object loader: register code and its .eh_frame by one call when the object
 * is final.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <sfjit.h>
#include <sfjit/code.h>

/* int f(int (*g)(int), int n) { return g(n) + 1; }, as compiled */
static const unsigned char object_text[] = {
	0x53,				/* push %rbx */
	0x48, 0x89, 0xf8,		/* mov %rdi,%rax */
	0x89, 0xf7,			/* mov %esi,%edi */
	0xff, 0xd0,			/* call *%rax */
	0xff, 0xc0,			/* inc %eax */
	0x5b,				/* pop %rbx */
	0xc3,				/* ret */
};

static const unsigned char object_eh_frame[] = {
	20, 0, 0, 0, 0, 0, 0, 0,	/* CIE */
	1, 0, 1, 0x78, 16,		/* version; code 1, data -8, RA 16 */
	0x0c, 7, 8, 0x90, 1,		/* CFA is rsp + 8, RA at CFA - 8 */
	0, 0, 0, 0, 0, 0,
	28, 0, 0, 0, 28, 0, 0, 0,	/* FDE */
	0, 0, 0, 0, 0, 0, 0, 0,		/* 32: relocated to the code */
	12, 0, 0, 0, 0, 0, 0, 0,	/* its size */
	0x41, 0x0e, 16,			/* from 1 on: CFA is rsp + 16 */
	0x4a, 0x0e, 8,			/* from 11 on: rsp + 8 */
	0, 0,
	0, 0, 0, 0,			/* the end */
};

#define FDE_START	32

static unsigned char eh_frame[sizeof(object_eh_frame)];

/* The guide shows what is between these marks. begin */
/* Call this when the object is relocated and its code executable. */
static int object_is_final(const void *text, size_t size,
			   struct sfjit_code **code)
{
	struct sfjit_range range = { text, size };

	return sfjit_register_eh_frame(eh_frame, sizeof(eh_frame), &range, 1,
				       SFJIT_GAPS_CALLED, code);
}
/* end */

static void *load(void)
{
	unsigned char *text = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uintptr_t)text;

	if (text == MAP_FAILED)
		return NULL;
	memcpy(text, object_text, sizeof(object_text));
	memcpy(eh_frame, object_eh_frame, sizeof(eh_frame));
	memcpy(eh_frame + FDE_START, &start, sizeof(start));
	if (mprotect(text, 4096, PROT_READ | PROT_EXEC))
		return NULL;
	return text;
}

static int twice(int n)
{
	return 2 * n;
}

int main(void)
{
	struct sfjit_code *code = NULL;
	void *text = load();
	int ret;

	if (!text)
		return 1;
	ret = object_is_final(text, sizeof(object_text), &code);
	if (ret)	/* the program runs anyway, with truncated stacks */
		fprintf(stderr, "cannot register: %s\n", strerror(-ret));
	sfjit_perf_map_name(text, sizeof(object_text), "object::plus_one");

	printf("%d\n", ((int (*)(int (*)(int), int))text)(twice, 20));

	sfjit_code_retire(code);	/* before munmap() */
	return munmap(text, 4096) ? 1 : 0;
}
