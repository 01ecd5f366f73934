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

/*
 * Bytes of FP and SIMD registers; of SVE's: 32 vectors of 256 bytes at most, 16
 * predicates and FFR of an eighth of that.
 */
#define CODE_VECTORS_SIMD	(32 * 16)
#define CODE_SVE_PREDICATES	(32 * 256)
#define CODE_VECTORS_SVE	(CODE_SVE_PREDICATES + 17 * 32)

/* The largest page there is. */
#define CODE_TRIAL_SIZE		65536

/* The CFA of what is called is the caller's stack pointer. */
#define CODE_CFA_ABOVE_SP	0

/* mmap() is a system call with its arguments. */
#define CODE_MMAP_BLOCK		0

#ifndef __ASSEMBLER__

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <sfjit/rows.h>

#include <diverted.h>

/* Where a call leads to: the return address is in x30. */
#define CODE_JUMP_ROW { 0, 0, SFJIT_REG(31, 0), SFJIT_NO_RULE, SFJIT_NO_RULE }

static inline uint32_t code_word(const uint8_t *code)
{
	uint32_t insn;

	memcpy(&insn, code, sizeof(insn));
	return insn;
}

/*
 * Bytes of one jump of a JIT's linker. LLVM's are adrp x16; ldr x16, [x16]; br
 * x16, and movz x16 and three movk, each with 16 bits of the address;
 * br x16.
 */
static inline size_t code_jump(const uint8_t *code, size_t length)
{
	if (length >= 12 && (code_word(code) & 0x9f00001f) == 0x90000010 &&
	    (code_word(code + 4) & 0xffc003ff) == 0xf9400210 &&
	    code_word(code + 8) == 0xd61f0200)
		return 12;
	if (length >= 20 && (code_word(code) & 0xffe0001f) == 0xd2e00010 &&
	    (code_word(code + 4) & 0xffe0001f) == 0xf2c00010 &&
	    (code_word(code + 8) & 0xffe0001f) == 0xf2a00010 &&
	    (code_word(code + 12) & 0xffe0001f) == 0xf2800010 &&
	    code_word(code + 16) == 0xd61f0200)
		return 20;
	return 0;
}

/* Bytes of jumps that 'code' begins with. */
static inline size_t code_jumps(const uint8_t *code, size_t length)
{
	size_t n = 0, more;

	while ((more = code_jump(code + n, length - n)))
		n += more;
	return n;
}

#define CODE_RET	0xd65f03c0

/*
 * Where the return of a function is that does nothing, and which compilers make
 * of an empty body: bti c; paciasp; stp x29, x30, [sp, #-16]!; mov x29, sp;
 * nop; ldp x29, x30, [sp], #16; autiasp, with or without each. Instead of the
 * return a jump is written, of one instruction: other functions may follow at
 * once.
 */
static inline size_t code_divert_at(const uint8_t *code, size_t length)
{
	static const uint32_t parts[] = {
		0xd503245f, 0xd503233f, 0xa9bf7bfd, 0x910003fd, 0xd503201f,
		0xa8c17bfd, 0xd50323bf,
	};
	size_t n = 0, i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (length - n >= 8 && code_word(code + n) == parts[i])
			n += 4;
	return n;
}

/* Bytes of such a function. 0: another function. */
static inline size_t code_empty(const uint8_t *code, size_t length)
{
	size_t n = code_divert_at(code, length);

	return length - n >= 4 && code_word(code + n) == CODE_RET ? n + 4 : 0;
}

/* b: 128 MiB in either direction. */
#define CODE_DIVERT_SIZE	4

static inline bool code_divert(uint8_t *code, uintptr_t at, uintptr_t to)
{
	intptr_t far = to - at;
	uint32_t jump = 0x14000000 | (far >> 2 & 0x3ffffff);

	memcpy(code, &jump, sizeof(jump));
	return far >= -(128L << 20) && far < 128L << 20;
}

/*
 * Of text, besides PROT_READ and PROT_EXEC: ld.so and the kernel have modules
 * guarded whose property says that calls lead to landing pads. 'header': where
 * the module is mapped from.
 */
static inline int code_protection(const void *header)
{
	const ElfW(Ehdr) *eh = header;
	const ElfW(Phdr) *ph = (const void *)(eh + 1);
	const struct {
		ElfW(Nhdr) note;
		char name[4];
		uint32_t type, size, value;
	} *property;
	const ElfW(Phdr) *end = ph + eh->e_phnum;

	/* The headers are in the first page, one after the other. */
	if (!(getauxval(AT_HWCAP2) & HWCAP2_BTI) ||
	    eh->e_phoff != sizeof(*eh) || eh->e_phnum > 64)
		return 0;
	while (ph < end && ph->p_type != PT_GNU_PROPERTY)
		ph++;
	/* So is the property. */
	if (ph == end || ph->p_filesz < sizeof(*property) ||
	    ph->p_offset > 4096 - sizeof(*property))
		return 0;
	property = (const void *)((const uint8_t *)header + ph->p_offset);
	return property->note.n_type == NT_GNU_PROPERTY_TYPE_0 &&
	       property->type == GNU_PROPERTY_AARCH64_FEATURE_1_AND &&
	       (property->value & GNU_PROPERTY_AARCH64_FEATURE_1_BTI) ?
	       PROT_BTI : 0;
}

static inline unsigned long code_vectors_size(void)
{
	return getauxval(AT_HWCAP) & HWCAP_SVE ? CODE_VECTORS_SVE :
						 CODE_VECTORS_SIMD;
}

#endif /* __ASSEMBLER__ */

#endif /* SFJIT_ARCH_CODE_H */
