/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Machine code that the preload module knows by its bytes, and system calls.
 */
#ifndef SFJIT_ARCH_CODE_H
#define SFJIT_ARCH_CODE_H

/* event.S: functions for diverted ones to jump to, and bytes of each. */
#define CODE_EVENTS		16
#define CODE_EVENT_SIZE		16

/* The largest page there is. */
#define CODE_TRIAL_SIZE		4096

/* The CFA of what is called is the caller's stack pointer. */
#define CODE_CFA_ABOVE_SP	0

/* mmap() is a system call with its arguments. */
#define CODE_MMAP_BLOCK		0

#ifndef __ASSEMBLER__

#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sfjit/rows.h>

#include <diverted.h>

/*
 * Linkers of JITs reach distant code through `jmp *offset(%rip)', each of 6
 * bytes, one after the other. Calls lead to it: the return address is on top of
 * the stack.
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

/*
 * Bytes of instructions of a function that does nothing, which compilers make
 * of an empty body: endbr64; push %rbp; mov %rsp,%rbp; nop; pop %rbp; ret, with
 * or without each but the last. 0: another function.
 */
static inline size_t code_empty(const uint8_t *code, size_t length)
{
	static const struct {
		uint8_t size, bytes[4];
	} parts[] = {
		{ 4, { 0xf3, 0x0f, 0x1e, 0xfa } }, { 1, { 0x55 } },
		{ 3, { 0x48, 0x89, 0xe5 } }, { 1, { 0x90 } }, { 1, { 0x5d } },
	};
	size_t n = 0, i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (length - n > parts[i].size &&
		    !memcmp(code + n, parts[i].bytes, parts[i].size))
			n += parts[i].size;
	return n < length && code[n] == 0xc3 ? n + 1 : 0;
}

/* Where in such a function the jump is written. */
static inline size_t code_divert_at(const uint8_t *code, size_t length)
{
	return 0;
}

/* jmp *0(%rip), and where to: from anywhere to anywhere. false: too far. */
#define CODE_DIVERT_SIZE	14

static inline bool code_divert(uint8_t *code, uintptr_t at, uintptr_t to)
{
	static const uint8_t jump[6] = { 0xff, 0x25 };

	memcpy(code, jump, sizeof(jump));
	memcpy(code + sizeof(jump), &to, sizeof(to));
	return true;
}

/* Of text, besides PROT_READ and PROT_EXEC. */
static inline int code_protection(const void *header)
{
	return 0;
}

/* CPUID leaf 13 has those of XSAVE; FXSAVE needs 512, and every CPU has it. */
static inline unsigned long code_vectors_size(void)
{
	unsigned int a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE) &&
	    __get_cpuid_count(13, 0, &a, &b, &c, &d) && b > 512)
		return b;
	return 512;
}

#endif /* __ASSEMBLER__ */

#endif /* SFJIT_ARCH_CODE_H */
