// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A library to load whose constructor generates code, in its own memory, and
 * describes it to gdb. It never removes that: the code goes with the library.
 */
#include <sys/mman.h>

#include "jit_elf.h"
#include "jit_gdb.h"

#define PAGE	4096

static uint8_t text[PAGE] __attribute__((aligned(PAGE)));
static struct elf_file file __attribute__((aligned(PAGE)));
static struct jit_code_entry entry = {
	.symfile_addr = &file, .symfile_size = sizeof(file),
};

__attribute__((constructor)) static void construct(void)
{
	static const uint8_t code[] = CODE_CALL;
	struct frames frames;

	memcpy(text, code, sizeof(code));
	frames_begin(&frames, 0);
	frames_function(&frames, (uintptr_t)text, code[4], 0);
	frames_end(&frames);
	elf_make(&file, &frames, 0, (uintptr_t)text, sizeof(text));
	if (mprotect(text, sizeof(text), PROT_READ | PROT_EXEC))
		return;
	__jit_debug_descriptor.action_flag = 1;
	__jit_debug_descriptor.relevant_entry = &entry;
	__jit_debug_descriptor.first_entry = &entry;
	__jit_debug_register_code();
}

const void *plugin_code(void);
const void *plugin_code(void)
{
	return text;
}

int plugin_number(void);
int plugin_number(void)
{
	return 9;
}
