// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A JIT with the name of PCRE2, whose code sfjit run assumes to have no frame
 * pointers. It registers its code with its own libsfjit.
 */
#include <sfjit.h>
#include <sfjit/code.h>
#include <sys/mman.h>

#include "guess.h"

static const struct sfjit_row row = {
	0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE,
};

void *guess_map(void *at, size_t size)
{
	void *memory = mmap(at, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* No tail call of mmap(): the return address identifies the caller. */
	return memory == MAP_FAILED ? NULL : memory;
}

static struct sfjit_code **handle(void *text)
{
	static struct sfjit_code *handles[1024];

	return &handles[(uintptr_t)text / 128 % 1024];
}

int guess_register(void *text, size_t size)
{
	struct sfjit_function f = { (uintptr_t)text, size, 1, &row, 0, 0 };

	return sfjit_register_functions(&f, 1, handle(text));
}

int guess_unregister(void *text)
{
	return sfjit_code_retire(*handle(text));
}
