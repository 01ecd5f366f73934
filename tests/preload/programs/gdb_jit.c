// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A JIT that describes its code only to gdb. A first function is in gdb's list
 * before any library has run, including that of sfjit run.
 *
 * gdb-jit publish [stop]	[stops by SIGSTOP,] publishes a second function,
 *			removes it and the first; prints whether the two had
 *			windows before and after that: 1, 0, or - if the kernel
 *			has no windows
 * gdb-jit where		prints the address of gdb's breakpoint, the same in all
 *			processes
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit_code.h"
#include "jit_elf.h"
#include "jit_gdb.h"

#define PAGE	4096

struct function {
	struct jit_code_entry entry;
	struct elf_file file;
	uint8_t *text;
};

static struct function first, second;

/*
 * PR_SET_MDWE forbids making writable memory executable, so the text is written
 * as a file.
 */
static uint8_t *map_text(void)
{
	static const uint8_t code[PAGE] = CODE_CALL;
	int fd = memfd_create("text", MFD_CLOEXEC);
	void *text;

	if (fd < 0 || write(fd, code, sizeof(code)) != sizeof(code))
		abort();
	text = mmap(NULL, sizeof(code), PROT_READ | PROT_EXEC, MAP_PRIVATE,
		    fd, 0);
	if (text == MAP_FAILED)
		abort();
	close(fd);
	return text;
}

static void tell(uint32_t action, struct function *f)
{
	__jit_debug_descriptor.action_flag = action;
	__jit_debug_descriptor.relevant_entry = &f->entry;
	__jit_debug_register_code();
}

static void publish(struct function *f)
{
	struct jit_code_entry *next = __jit_debug_descriptor.first_entry;
	struct frames frames;

	f->text = map_text();
	frames_begin(&frames, 0);
	frames_function(&frames, (uintptr_t)f->text, 16, 0);
	elf_make(&f->file, &frames, 0, (uintptr_t)f->text, CODE_CALL_SIZE);
	f->entry = (struct jit_code_entry) {
		.next_entry = next, .symfile_addr = &f->file,
		.symfile_size = sizeof(f->file),
	};
	if (next)
		next->prev_entry = &f->entry;
	__jit_debug_descriptor.first_entry = &f->entry;
	tell(1, f);
}

static void retire(struct function *f)
{
	struct jit_code_entry *next = f->entry.next_entry;
	struct jit_code_entry *previous = f->entry.prev_entry;

	if (next)
		next->prev_entry = previous;
	if (previous)
		previous->next_entry = next;
	else
		__jit_debug_descriptor.first_entry = next;
	tell(2, f);
}

static char has_window(const struct function *f)
{
	FILE *file = fopen("/proc/self/sframe", "r");
	uintptr_t at = (uintptr_t)f->text;
	unsigned long start, end;
	char line[256], has = '0';

	if (!file)
		return '-';
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2 &&
		    start <= at && at < end)
			has = '1';
	fclose(file);
	return has;
}

static void print_windows(void)
{
	printf("%c %c\n", has_window(&first), has_window(&second));
}

static void begin(int argc, char **argv, char **envp)
{
	if (argc > 1 && !strcmp(argv[1], "publish"))
		publish(&first);
}

__attribute__((section(".preinit_array"), used))
static void (*const before_libraries)(int, char **, char **) = begin;

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "where")) {
		printf("%lx\n", (unsigned long)__jit_debug_register_code);
		return 0;
	}
	if (argc > 2)
		raise(SIGSTOP);
	publish(&second);
	print_windows();
	retire(&second);
	retire(&first);
	print_windows();
	return 0;
}
