// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* A library to load. NUMBER tells its builds apart. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

/*
 * A JIT: its constructor gives gdb a file that does not exist. Padding follows
 * the function.
 */
#ifdef GDB
struct {
	unsigned int version, action;
	const void *relevant, *first;
} __jit_debug_descriptor = { 1, 1, (void *)16, 0 };

void __jit_debug_register_code(void);
void __attribute__((noinline)) __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((constructor)) static void construct(void)
{
	__jit_debug_register_code();
}
#endif

int plugin_number(void);
int plugin_number(void)
{
#ifdef MAPS
	/* As a JIT does: for code, for code that is writable elsewhere, for data. */
	int file = memfd_create("code", 0);

	return mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ||
	       ftruncate(file, 8192) ||
	       mmap(0, 8192, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0) ==
	       MAP_FAILED ||
	       mmap(0, 8192, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ?
	       -1 : NUMBER;
#else
	return NUMBER;
#endif
}

/* By which Mono finds what it has compiled ahead of time. */
#ifdef MONO
const int mono_aot_file_info = 1;
#endif

/* Without CFI, as large as the gap that separates two windows. */
#ifdef GAP
__asm__(".text\n"
	"	.fill 0x20000, 1, 0xcc\n");

int plugin_behind(int (*call)(void));
int plugin_behind(int (*call)(void))
{
	return call() + 1;
}
#endif

/* A hundred functions, each after a gap that separates two windows. */
#ifdef GAPS
int plugin_behind(int (*call)(void));
int plugin_behind(int (*call)(void))
{
	return call() + 1;
}

__asm__(".text\n"
	".rept 100\n"
	"	.fill 0x11000, 1, 0xcc\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".endr\n");
#endif

/* Constants that look like functions; the linker puts both into one segment. */
#ifdef MIXED
__asm__(".section .rodata\n"
	".rept 100\n"
	"	.balign 16, 0x90\n"
	"	push %rbx\n"
	"	mov %rdi, %rbx\n"
	"	pop %rbx\n"
	"	ret\n"
	".endr\n"
	".text\n");
#endif

/*
 * Called only by others, who find it by its name. The store of rbp, seen from the
 * end, could be that of the caller's.
 */
#ifdef ASSEMBLY
__asm__(".text\n"
	"	.balign 16\n"
	"	.globl plugin_assembly\n"
	"	.type plugin_assembly, @function\n"
	"plugin_assembly:\n"
	"	push %rbp\n"
	"	push %r12\n"
	"	mov $24, %ecx\n"
	"1:	add %rdi, %rbp\n"
	"	dec %ecx\n"
	"	jne 1b\n"
	"	mov %rbp, 8(%rdi)\n"
	"	pop %r12\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.size plugin_assembly, . - plugin_assembly\n");
#endif

/* Twenty functions in code that is mostly without CFI. */
#ifdef SPARSE
__asm__(".text\n"
	".rept 20\n"
	"	.fill 1000, 1, 0xcc\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".endr\n");
#endif
