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

/* Bytes of f0 to f15, and of v0 to v31, whose first halves those are. */
#define CODE_VECTORS_FP		(16 * 8)
#define CODE_VECTORS_VX		(32 * 16)

/* The largest page there is. */
#define CODE_TRIAL_SIZE		4096

/* The CFA of what is called is that much above the caller's stack pointer. */
#define CODE_CFA_ABOVE_SP	160

/* mmap() has more arguments than a system call: that is told where they are. */
#define CODE_MMAP_BLOCK		1

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include <sfjit/rows.h>

#include <diverted.h>

/* Where a call leads to: the return address is in r14. */
#define CODE_JUMP_ROW { 0, 0, SFJIT_REG(15, CODE_CFA_ABOVE_SP), SFJIT_NO_RULE, \
			SFJIT_NO_RULE }

/*
 * Bytes of one jump of a JIT's linker. LLVM's is lgrl %r1; br %r1. The address
 * is anywhere, or 8 bytes (4 halfwords) on: right after the jump.
 */
static inline size_t code_jump(const uint8_t *code, size_t length)
{
	static const uint8_t lgrl[] = { 0xc4, 0x18 }, br[] = { 0x07, 0xf1 };
	uint32_t far;

	if (length < 8 || memcmp(code, lgrl, 2) || memcmp(code + 6, br, 2))
		return 0;
	memcpy(&far, code + 2, sizeof(far));
	return far == 4 && length >= 16 ? 16 : 8;
}

/* Bytes of jumps that 'code' begins with. */
static inline size_t code_jumps(const uint8_t *code, size_t length)
{
	size_t n = 0, more;

	while ((more = code_jump(code + n, length - n)))
		n += more;
	return n;
}

/*
 * Bytes of instructions of a function that does nothing, which compilers make
 * of an empty body: ldgr %f0,%r11; lgr %r11,%r15; nopr; lgdr %r11,%f0; br %r14,
 * with or without each but the last, or with stmg and lmg of r11 to r15 for
 * ldgr and lgdr. 0: another function.
 */
static inline size_t code_empty(const uint8_t *code, size_t length)
{
	static const struct {
		uint8_t size, bytes[6];
	} parts[] = {
		{ 4, { 0xb3, 0xc1, 0x00, 0x0b } },
		{ 6, { 0xeb, 0xbf, 0xf0, 0x58, 0x00, 0x24 } },
		{ 4, { 0xb9, 0x04, 0x00, 0xbf } }, { 2, { 0x07, 0x00 } },
		{ 4, { 0xb3, 0xcd, 0x00, 0xb0 } },
		{ 6, { 0xeb, 0xbf, 0xb0, 0x58, 0x00, 0x04 } },
	};
	static const uint8_t br[] = { 0x07, 0xfe };
	size_t n = 0, i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (length - n >= parts[i].size &&
		    !memcmp(code + n, parts[i].bytes, parts[i].size))
			n += parts[i].size;
	return length - n >= 2 && !memcmp(code + n, br, 2) ? n + 2 : 0;
}

/* Where in such a function the jump is written. */
static inline size_t code_divert_at(const uint8_t *code, size_t length)
{
	return 0;
}

/*
 * jg: 4 GiB in either direction, in halfwords. It is longer than br %r14, all
 * that there is of an empty function without a frame; functions are aligned to
 * 8 bytes, and what is between is padding.
 */
#define CODE_DIVERT_SIZE	6

static inline bool code_divert(uint8_t *code, uintptr_t at, uintptr_t to)
{
	static const uint8_t jg[] = { 0xc0, 0xf4 };
	intptr_t far = to - at;
	int32_t halfwords = far / 2;

	memcpy(code, jg, sizeof(jg));
	memcpy(code + sizeof(jg), &halfwords, sizeof(halfwords));
	return far >= -(4L << 30) && far < 4L << 30;
}

/* Of text, besides PROT_READ and PROT_EXEC. */
static inline int code_protection(const void *header)
{
	return 0;
}

static inline unsigned long code_vectors_size(void)
{
	return getauxval(AT_HWCAP) & HWCAP_S390_VX ? CODE_VECTORS_VX :
						     CODE_VECTORS_FP;
}

#endif /* __ASSEMBLER__ */

#endif /* SFJIT_ARCH_CODE_H */
