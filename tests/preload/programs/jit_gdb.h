/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The JIT interface of gdb, as "JIT Interface" in gdb's manual has it: both
 * symbols, for the one file of a program or library that includes this.
 */
#ifndef JIT_GDB_H
#define JIT_GDB_H

#include <stdint.h>

struct jit_code_entry {
	struct jit_code_entry *next_entry, *prev_entry;
	const void *symfile_addr;
	uint64_t symfile_size;
};

struct jit_descriptor {
	uint32_t version, action_flag;
	struct jit_code_entry *relevant_entry, *first_entry;
};

extern struct jit_descriptor __jit_debug_descriptor;
struct jit_descriptor __jit_debug_descriptor = { .version = 1 };

void __jit_debug_register_code(void);
void __attribute__((noinline)) __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

#endif /* JIT_GDB_H */
