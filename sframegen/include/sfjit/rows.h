/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Rows: how to find the caller from each address of a function. Both libraries
 * take them, libsfjit (<sfjit.h>) and libsframegen (<sframegen.h>).
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
 * struct sfjit_rule - where a value is: base + offset, or stored there
 * @offset:	bytes from the base
 * @reg:	DWARF number of the register if @base is SFJIT_BASE_REG, else 0
 * @base:	SFJIT_BASE_*
 * @deref:	1: the value is stored at that address; 0: it is the address
 * @addend:	added to what is stored there; 0 but for a CFA with @deref. Only
 *		SFRAME_FORMAT_V3_ADDEND has it
 *
 * Of a rule without a base the rest is ignored. A return address that is
 * CFA + offset itself has no bytes in the format: such a row is refused.
 */
struct sfjit_rule {
	int32_t		offset;
	uint16_t	reg;
	uint8_t		base;
	uint8_t		deref;
	int32_t		addend;
};

/*
 * Initialisers: a register plus offset, saved at CFA + offset, no rule (a
 * return address where the ABI puts it, a frame pointer unchanged).
 */
#define SFJIT_REG(number, offset) { (offset), (number), SFJIT_BASE_REG, 0, 0 }
#define SFJIT_SAVED(offset)	{ (offset), 0, SFJIT_BASE_CFA, 1, 0 }
#define SFJIT_NO_RULE		{ 0, 0, SFJIT_BASE_NONE, 0, 0 }

/* The same for assignments and arguments. */
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

/* DWARF numbers of the registers that rules mostly start from. */
#define SFJIT_X86_64_FP		6	/* rbp */
#define SFJIT_X86_64_SP		7	/* rsp */

/* sfjit_row.flags */
#define SFJIT_ROW_OUTERMOST	0x1	/* no caller; the rules are 0 */
#define SFJIT_ROW_MANGLED_RA	0x2	/* AArch64: the RA is signed */

/**
 * struct sfjit_row - how to find the caller from one address on
 * @start:	offset from the start of the function (of the block when it
 *		repeats); the row holds from here to the next row or the end
 * @flags:	SFJIT_ROW_*
 * @cfa:	the canonical frame address, the stack pointer before the call;
 *		base is a register. The kernel follows registers other than the
 *		stack and the frame pointer in the topmost frame only. The
 *		caller's stack pointer is the CFA (s390x: CFA - 160)
 * @ra:		the return address; SFJIT_NO_RULE on x86-64: at CFA - 8
 * @fp:		the caller's frame pointer; SFJIT_NO_RULE: unchanged
 *
 * x86-64, on entry:	{ 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8),
 *			  SFJIT_NO_RULE, SFJIT_NO_RULE }
 * after push %rbp:	{ 1, 0, SFJIT_REG(SFJIT_X86_64_SP, 16),
 *			  SFJIT_NO_RULE, SFJIT_SAVED(-16) }
 */
struct sfjit_row {
	uint32_t		start;
	uint32_t		flags;
	struct sfjit_rule	cfa;
	struct sfjit_rule	ra;
	struct sfjit_rule	fp;
};

/* sfjit_function.flags; libsfjit takes none of them */
#define SFJIT_FUNCTION_SIGNAL	0x1	/* the caller's address is exact; without
					   rows, a signal trampoline */
#define SFJIT_FUNCTION_PAUTH_KEY_B 0x2	/* AArch64 */

/**
 * struct sfjit_function - a range of code and its rows
 * @addr:	address of the first byte
 * @size:	bytes of code
 * @nr_rows:	number of rows, at least 1. The kernel reads 64 of an entry:
 *		libsfjit makes several of a longer function, unless it repeats
 * @rows:	rows, start strictly increasing, the first for 0; they stay the
 *		caller's
 * @flags:	SFJIT_FUNCTION_*
 * @repeat:	0, or the code repeats every so many bytes and the rows
 *		describe one block (PCMASK)
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
