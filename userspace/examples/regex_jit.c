// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Regular expressions: each is compiled into its own block, which is freed with
 * it. The section is in the block too, so the program needs only
 * <sfjit/client.h>. The code calls itself for each try, and a C function for
 * classes of characters.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <sys/mman.h>

#include <sfjit/client.h>

#include "emit.h"

#define BLOCKS	8
#define BLOCK	4096
#define SECTION	1024		/* its offset in a block */
#define ROUND_NS 8000000

/* A compiled expression. */
struct regex {
	unsigned char	*text;
	uint32_t	size;
	bool		has_window;
};

__attribute__((noinline)) void is_word(void)
{
	volatile int i;

	for (i = 0; i < 20000; i++)
		;
}

/* void match(int tries) { if (tries) { spin; match(tries - 1); is_word(); } } */
static int emit_match(struct emit *e, unsigned char *text,
		      struct sfjit_function *f)
{
	emit_begin(e);
	emit_enter(e);
	sfjit_rows_push(&e->rows, EMIT(e, "\x53"), RBX);	/* push %rbx */
	sfjit_rows_adjust(&e->rows, EMIT(e, "\x48\x83\xec\x10"), 16);
	EMIT(e, "\x89\xfb\x85\xff\x75\x0b");	/* tries ? skip the exit */
	sfjit_rows_remember(&e->rows);
	sfjit_rows_adjust(&e->rows, EMIT(e, "\x48\x83\xc4\x10"), -16);
	sfjit_rows_pop(&e->rows, EMIT(e, "\x5b"), RBX);		/* pop %rbx */
	sfjit_rows_adjust(&e->rows, EMIT(e, "\x48\x83\xc4\x20"), -32);
	sfjit_rows_pop(&e->rows, EMIT(e, "\x5d"), RBP);		/* pop %rbp */
	emit_ret(e);
	sfjit_rows_restore(&e->rows, e->size);
	emit_spin(e, 10000);
	EMIT(e, "\x8d\x7b\xff");		/* lea -1(%rbx), %edi */
	emit_call(e, text);
	emit_call(e, is_word);
	sfjit_rows_adjust(&e->rows, EMIT(e, "\x48\x83\xc4\x10"), -16);
	sfjit_rows_pop(&e->rows, EMIT(e, "\x5b"), RBX);
	emit_leave(e);
	emit_ret(e);
	return emit_end(e, text, text, f);
}

static void compile(struct regex *regex, unsigned long number)
{
	unsigned char *section = regex->text + SECTION;
	struct sfjit_function f;
	struct emit e;
	char name[64];
	int length;

	if (mprotect(regex->text, BLOCK, PROT_READ | PROT_WRITE))
		exit(1);
	check(emit_match(&e, regex->text, &f), "rows");
	length = sfjit_section_fill(section, BLOCK - SECTION, &f, 1);
	check(length, "section");
	if (mprotect(regex->text, BLOCK, PROT_READ | PROT_EXEC))
		exit(1);
	/* Without a window stacks are truncated; the program runs anyway. */
	regex->has_window = !sfjit_client_register((uintptr_t)regex->text,
						   section, length,
						   regex->text, f.size);
	regex->size = f.size;
	snprintf(name, sizeof(name), "r%lu>r%lu,is_word", number, number);
	sfjit_names_load(&f, BLOCK - f.size, name);
}

static void free_regex(struct regex *regex)
{
	if (!regex->size)
		return;
	if (regex->has_window)
		check(sfjit_client_unregister((uintptr_t)regex->text),
		      "unregister");
	sfjit_names_drop(regex->text, regex->size);
	regex->size = 0;
}

__attribute__((noinline)) static void run_match(const struct regex *regex,
						long long end)
{
	do {
		((void (*)(int))(void *)regex->text)(5);
	} while (now_ns() < end);
}

int main(int argc, char **argv)
{
	long long end = begin_run(argc, argv);
	struct regex blocks[BLOCKS] = { 0 }, *regex;
	unsigned long number;
	unsigned int i;

	for (i = 0; i < BLOCKS; i++) {
		blocks[i].text = mmap(NULL, BLOCK, PROT_READ,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (blocks[i].text == MAP_FAILED)
			return 1;
	}
	for (number = 0; now_ns() < end; number++) {
		regex = &blocks[number % BLOCKS];
		free_regex(regex);
		compile(regex, number);
		run_match(regex, now_ns() + ROUND_NS);
	}
	for (i = 0; i < BLOCKS; i++)
		free_regex(&blocks[i]);
	return end_run(number);
}
