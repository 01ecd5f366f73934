/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Machine code that the preload module knows by its bytes.
 */
#ifndef SFJIT_ARCH_CODE_H
#define SFJIT_ARCH_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sfjit/rows.h>

/*
 * Linkers of JITs reach what is far away through `jmp *offset(%rip)', one of 6
 * bytes behind the other. It is where a call leads to: the return address is on
 * top of the stack.
 */
#define CODE_JUMP_ROW { 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, \
			SFJIT_NO_RULE }

/* Bytes of jumps that 'code' begins with. */
static inline size_t code_jumps(const uint8_t *code, size_t length)
{
	size_t n = 0;

	while (length - n >= 6 && code[n] == 0xff && code[n + 1] == 0x25)
		n += 6;
	return n;
}

#endif /* SFJIT_ARCH_CODE_H */
