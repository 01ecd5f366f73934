/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Rows describe how to find the caller from each address of a function. Both
 * libraries take them, libsfjit (<sfjit.h>) and libsframegen (<sframegen.h>).
 */
#ifndef SFJIT_ROWS_H
#define SFJIT_ROWS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* sfjit_rule.base */
#define SFJIT_BASE_NONE		0	/* as SFJIT_NO_RULE */
#define SFJIT_BASE_CFA		1
#define SFJIT_BASE_REG		2

/**
 * struct sfjit_rule - a value: base + offset, or what is stored there
 * @offset:	bytes from the base
 * @reg:	DWARF number of the register if @base is SFJIT_BASE_REG, else 0
 * @base:	SFJIT_BASE_NONE, SFJIT_BASE_CFA or SFJIT_BASE_REG
 * @deref:	1: the value is stored at that address; 0: it is the address
 * @addend:	added to the stored value; 0 except for a CFA with @deref
 *
 * Make a rule with one of these macros, or in assignments and arguments with
 * the functions sfjit_rule_reg(), sfjit_rule_saved() and sfjit_rule_none():
 *
 * * SFJIT_REG(number, offset) - a register plus an offset. The number is
 *   DWARF's, for example SFJIT_X86_64_SP or SFJIT_X86_64_FP.
 * * SFJIT_SAVED(offset) - stored at the CFA plus an offset.
 * * SFJIT_NO_RULE - a return address where the ABI puts it, or a frame pointer
 *   that is unchanged.
 *
 * If a rule has no base, the other members are ignored. The format cannot
 * express a return address that is itself CFA + offset: such a row is refused.
 */
struct sfjit_rule {
	int32_t		offset;
	uint16_t	reg;
	uint8_t		base;
	uint8_t		deref;
	int32_t		addend;
};

#define SFJIT_REG(number, offset) { (offset), (number), SFJIT_BASE_REG, 0, 0 }
#define SFJIT_SAVED(offset)	{ (offset), 0, SFJIT_BASE_CFA, 1, 0 }
#define SFJIT_NO_RULE		{ 0, 0, SFJIT_BASE_NONE, 0, 0 }

static inline struct sfjit_rule sfjit_rule_reg(unsigned int number,
					       int32_t offset)
{
	struct sfjit_rule rule = SFJIT_NO_RULE;

	rule.offset = offset;
	rule.reg = (uint16_t)number;
	rule.base = SFJIT_BASE_REG;
	return rule;
}

static inline struct sfjit_rule sfjit_rule_saved(int32_t offset)
{
	struct sfjit_rule rule = SFJIT_SAVED(0);

	rule.offset = offset;
	return rule;
}

static inline struct sfjit_rule sfjit_rule_none(void)
{
	struct sfjit_rule rule = SFJIT_NO_RULE;

	return rule;
}

/* DWARF numbers */
#define SFJIT_X86_64_RBX	3
#define SFJIT_X86_64_FP		6	/* rbp */
#define SFJIT_X86_64_SP		7	/* rsp */

/* sfjit_row.flags */
#define SFJIT_ROW_OUTERMOST	0x1
#define SFJIT_ROW_MANGLED_RA	0x2
#define SFJIT_ROW_FP		0x4
/*
 * x86-64: the caller's rbx is unchanged, or stored at the CFA plus an offset, which
 * is a multiple of 8 from -248 to -16; any other offset says that it is not known.
 */
#define SFJIT_ROW_RBX_KEPT	0x8
#define SFJIT_ROW_RBX_SAVED(offset) \
	((offset) % 8 || (offset) > -16 || (offset) < -248 ? 0u : \
	 (uint32_t)-(offset))
#define SFJIT_ROW_RBX		0xf8	/* 0 in these bits: not known */

/**
 * struct sfjit_row - how to find the caller from a range of addresses
 * @start:	offset from the start of the function, or of the block if the
 *		function repeats. The row holds to the next row or the end
 * @flags:	0; SFJIT_ROW_OUTERMOST: there is no caller, and the rules are 0;
 *		SFJIT_ROW_MANGLED_RA: AArch64, the return address is signed.
 *		SFJIT_ROW_RBX_KEPT or SFJIT_ROW_RBX_SAVED(offset): x86-64, where
 *		the caller's rbx is; for rows whose @cfa is the stack or frame
 *		pointer plus an offset, and whose @ra and @fp are stored or as
 *		without a rule. Packed tables have it; SFrame sections, and CFI
 *		that is made of rows, do not.
 *		SFJIT_ROW_FP, only from sfjit_find_row(): the code keeps frame
 *		pointers, and the rules are 0
 * @cfa:	canonical frame address: the stack pointer before the call. Its
 *		base is a register. In frames other than the topmost the kernel
 *		knows only the stack and the frame pointer, and on x86-64 rbx,
 *		if the row of a callee says where it is stored and the rows of
 *		all frames from there on that they keep it. The caller's stack
 *		pointer is the CFA (s390x: CFA - 160)
 * @ra:		return address; SFJIT_NO_RULE on x86-64: stored at CFA - 8
 * @fp:		the caller's frame pointer; SFJIT_NO_RULE: unchanged
 *
 * The rows of an x86-64 function at entry, and after it pushed rbp::
 *
 *	{ 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE },
 *	{ 1, 0, SFJIT_REG(SFJIT_X86_64_SP, 16), SFJIT_NO_RULE,
 *	  SFJIT_SAVED(-16) },
 */
struct sfjit_row {
	uint32_t		start;
	uint32_t		flags;
	struct sfjit_rule	cfa;
	struct sfjit_rule	ra;
	struct sfjit_rule	fp;
};

/* sfjit_function.flags */
#define SFJIT_FUNCTION_SIGNAL	0x1
#define SFJIT_FUNCTION_PAUTH_KEY_B 0x2

/**
 * struct sfjit_function - a range of code and its rows
 * @addr:	address of the first byte
 * @size:	bytes of code
 * @nr_rows:	number of rows, at least 1
 * @rows:	rows whose starts strictly increase, the first is 0; they stay
 *		yours
 * @flags:	0 for libsfjit. SFJIT_FUNCTION_SIGNAL: the caller's address is
 *		exact; without rows, a signal trampoline.
 *		SFJIT_FUNCTION_PAUTH_KEY_B: AArch64, signed with key B
 * @repeat:	0, or the code repeats every @repeat bytes and the rows describe
 *		one block (PCMASK)
 */
struct sfjit_function {
	uint64_t		addr;
	uint32_t		size;
	uint32_t		nr_rows;
	const struct sfjit_row	*rows;
	uint8_t			flags;
	uint8_t			repeat;
};

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_ROWS_H */
