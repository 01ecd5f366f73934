// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: by_hand ROUNDS: what a JIT needs at least, without a library, to have its
 * names in perf (a jitdump) and frames for libgcc and gdb (.eh_frame): tests/system/
 * patterns/lines counts the lines between the marks. One function, and one
 * shape of frame. Prints the frames that libgcc finds from a callee on: the
 * function's address, how far into it they are, and main's.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

/* names: begin */
static int dump;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int names_open(void)
{
	struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t time, flags;
	} header = { 0x4a695444, 1, sizeof(header), EM_X86_64, 0, getpid(),
		     now(), 0 };
	char path[64];

	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	dump = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return write(dump, &header, sizeof(header)) != sizeof(header) ||
	       mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump,
		    0) == MAP_FAILED;
}

static int names_load(void *code, size_t size, char *name)
{
	static uint64_t index;
	struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, address, code_size, index;
	} load = { 0, sizeof(load) + strlen(name) + 1 + size, now(), getpid(),
		   gettid(), (uintptr_t)code, (uintptr_t)code, size, index++ };
	struct iovec parts[] = { { &load, sizeof(load) },
				 { name, strlen(name) + 1 }, { code, size } };

	return writev(dump, parts, 3) != load.size;
}
/* names: end */

/* frames: begin */
/* push %rbx; sub $16, %rsp; ...; add $16, %rsp; pop %rbx; ret */
static const unsigned char template[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 0,	/* CIE, version 1, no augmentation */
	1, 0x78, 16,			/* alignments, column of the address */
	0x0c, 7, 8, 0x90, 1,		/* CFA = rsp + 8, address at CFA - 8 */
	0, 0, 0, 0, 0, 0,
	36, 0, 0, 0, 28, 0, 0, 0,	/* FDE, back to the CIE */
	0, 0, 0, 0, 0, 0, 0, 0,		/* start of the code */
	0, 0, 0, 0, 0, 0, 0, 0,		/* and its size */
	0x41, 0x0e, 16, 0x83, 2,	/* 1: CFA = rsp + 16, rbx saved */
	0x44, 0x0e, 32,			/* 5: CFA = rsp + 32 */
	2, 0, 0x0e, 16,			/* in the end: CFA = rsp + 16 */
	0x41, 0x0e, 8, 0,		/* and rsp + 8 */
	0, 0, 0, 0,			/* no more */
};

void __register_frame(void *frames);

static int frames_register(void *code, size_t size)
{
	unsigned char *frames = malloc(sizeof(template));
	uint64_t words[] = { (uintptr_t)code, size };

	if (!frames)
		return 1;
	memcpy(frames, template, sizeof(template));
	memcpy(frames + 32, words, sizeof(words));
	frames[57] = size - 2 - 5;
	__register_frame(frames);
	return 0;
}
/* frames: end */

/* int f(int (*g)(int), int n) { return g(n) + 1; } */
static const unsigned char code[] = {
	0x53, 0x48, 0x83, 0xec, 0x10,	/* push %rbx; sub $16, %rsp */
	0x48, 0x89, 0xf8, 0x89, 0xf7,	/* mov %rdi, %rax; mov %esi, %edi */
	0xff, 0xd0, 0xff, 0xc0,		/* call *%rax; inc %eax */
	0x48, 0x83, 0xc4, 0x10,		/* add $16, %rsp */
	0x5b, 0xc3,			/* pop %rbx; ret */
};

static unsigned char *text;

int main(int argc, char **argv);

static _Unwind_Reason_Code print(struct _Unwind_Context *context, void *data)
{
	uintptr_t at = _Unwind_GetIP(context) - (uintptr_t)text;
	void *function;

	if (at < sizeof(code)) {
		printf("plus_one+%zu\n", (size_t)at);
		return _URC_NO_REASON;
	}
	function = _Unwind_FindEnclosingFunction(
		(void *)(_Unwind_GetIP(context) - 1));
	if (function != main)
		return _URC_NO_REASON;
	puts("main");
	return _URC_END_OF_STACK;
}

static int walk(int n)
{
	_Unwind_Backtrace(print, NULL);
	return n;
}

static int same(int n)
{
	return n;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	int (*plus_one)(int (*)(int), int);

	text = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return 1;
	memcpy(text, code, sizeof(code));
	if (mprotect(text, 4096, PROT_READ | PROT_EXEC) || names_open() ||
	    names_load(text, sizeof(code), "hand::plus_one") ||
	    frames_register(text, sizeof(code)))
		return 1;
	plus_one = (void *)text;
	if (plus_one(walk, 41) != 42)
		return 1;
	while (rounds--)
		plus_one(same, 0);
	return 0;
}
