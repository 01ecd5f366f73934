// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * An emitter that describes each change of the stack pointer, and a window that
 * owns its section.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <sfjit.h>
#include <sfjit/code.h>
#include <sfjit/row_builder.h>

static unsigned char *text;
static size_t length;

static uint32_t emit(const void *bytes, size_t nr)
{
	memcpy(text + length, bytes, nr);
	length += nr;
	return length;	/* the offset after the instruction */
}

#define EMIT(bytes)	emit(bytes, sizeof(bytes) - 1)

/* The guide shows what is between these marks. begin */
/* int f(int (*g)(int), int n) { return n ? g(n) + 1 : 0; } */
static int compile(struct sfjit_function *function, struct sfjit_row *array,
		   uint32_t max)
{
	struct sfjit_rows rows;

	sfjit_rows_init(&rows, array, max);
	sfjit_rows_push(&rows, EMIT("\x53"), 3);	/* push %rbx */
	sfjit_rows_adjust(&rows, EMIT("\x48\x83\xec\x20"), 32);
	EMIT("\x31\xc0\x85\xf6\x75\x06");	/* n ? skip the exit */
	sfjit_rows_remember(&rows);
	sfjit_rows_adjust(&rows, EMIT("\x48\x83\xc4\x20"), -32);
	sfjit_rows_pop(&rows, EMIT("\x5b"), 3);		/* pop %rbx */
	sfjit_rows_restore(&rows, EMIT("\xc3"));	/* ret */
	EMIT("\x48\x89\xfb\x89\xf7\xff\xd3\xff\xc0");	/* g(n) + 1 */
	sfjit_rows_adjust(&rows, EMIT("\x48\x83\xc4\x20"), -32);
	sfjit_rows_pop(&rows, EMIT("\x5b"), 3);		/* pop %rbx */
	EMIT("\xc3");					/* ret */
	return sfjit_rows_function(&rows, text, length, function);
}

static int publish(struct sfjit_code **code)
{
	struct sfjit_function function;
	struct sfjit_row array[16];
	int ret = compile(&function, array, 16);

	if (ret)
		return ret;
	if (mprotect(text, 4096, PROT_READ | PROT_EXEC))
		return 1;
	sfjit_perf_map_name(text, length, "rows::plus_one");
	return sfjit_register_functions(&function, 1, code);
}
/* end */

static int twice(int n)
{
	return 2 * n;
}

int main(void)
{
	struct sfjit_code *code = NULL;
	int (*f)(int (*)(int), int);
	int ret;

	text = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return 1;
	ret = publish(&code);
	if (ret > 0)
		return 1;
	if (ret)	/* the program runs anyway, with truncated stacks */
		fprintf(stderr, "cannot register: %s\n", strerror(-ret));

	f = (int (*)(int (*)(int), int))text;
	printf("%d %d\n", f(twice, 20), f(twice, 0));

	sfjit_code_retire(code);	/* before munmap() */
	return munmap(text, 4096) ? 1 : 0;
}
