// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * An area without rows: all functions but one keep frame pointers.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <sfjit.h>
#include <sfjit/text.h>

#define PAGE	4096

/* int f(int (*g)(int), int n) { return g(n) + 1; } */
static const unsigned char framed[] = {
	0x55, 0x48, 0x89, 0xe5,		/* push %rbp; mov %rsp,%rbp */
	0x48, 0x89, 0xf8, 0x89, 0xf7,	/* mov %rdi,%rax; mov %esi,%edi */
	0xff, 0xd0, 0xff, 0xc0,		/* call *%rax; inc %eax */
	0x5d, 0xc3,			/* pop %rbp; ret */
};

/* The same, with n + 1 in rbp during the call: return g(n) + n + 1. */
static const unsigned char loose[] = {
	0x55, 0x8d, 0x6e, 0x01,		/* push %rbp; lea 1(%rsi),%ebp */
	0x48, 0x89, 0xf8, 0x89, 0xf7,	/* mov %rdi,%rax; mov %esi,%edi */
	0xff, 0xd0, 0x01, 0xe8,		/* call *%rax; add %ebp,%eax */
	0x5d, 0xc3,			/* pop %rbp; ret */
};

/* The guide shows what is between these marks. begin */
/* @framed bytes keep frame pointers, the @loose bytes after them do not. */
static int publish(unsigned char *text, size_t framed, size_t loose)
{
	int ret;

	ret = sfjit_register_text((uintptr_t)text, text, framed,
				  SFJIT_TEXT_FP);
	if (ret)
		return ret;
	text += framed;
	return sfjit_register_text((uintptr_t)text, text, loose,
				   SFJIT_TEXT_END);
}
/* end */

static int twice(int n)
{
	return 2 * n;
}

static int call(const unsigned char *f, int n)
{
	return ((int (*)(int (*)(int), int))(uintptr_t)f)(twice, n);
}

int main(void)
{
	unsigned char *text = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (text == MAP_FAILED)
		return 1;
	memcpy(text, framed, sizeof(framed));
	memcpy(text + PAGE, loose, sizeof(loose));
	if (mprotect(text, 2 * PAGE, PROT_READ | PROT_EXEC))
		return 1;
	sfjit_perf_map_name(text + PAGE, sizeof(loose), "text::loose");
	ret = publish(text, PAGE, PAGE);
	if (ret)	/* the program runs anyway, with truncated stacks */
		fprintf(stderr, "cannot register: %s\n", strerror(-ret));

	printf("%d %d\n", call(text, 20), call(text + PAGE, 20));

	sfjit_unregister((uintptr_t)text);	/* before munmap() */
	sfjit_unregister((uintptr_t)text + PAGE);
	return munmap(text, 2 * PAGE) ? 1 : 0;
}
