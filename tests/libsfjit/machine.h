/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Rows for the machine of the test, from sframegen's tables. In each frame the
 * return address is in the first word below the CFA (where calls do not store
 * it there, too), and the frame pointer in the second.
 */
#ifndef LIB_MACHINE_H
#define LIB_MACHINE_H

#include <sframegen.h>

#include "test.h"

#define HAS_SECTIONS	sfg_abi_has_sframe(SFG_HOST_ABI)
/* Calls leave the return address in a register, and nothing pushes it. */
#define HAS_RA		sfg_rows_have_ra(SFG_HOST_ABI)

/* Distance from the stack pointer to the CFA at the entry of a function. */
static inline struct sfjit_rule entry_cfa(void)
{
	struct sfjit_row row;

	MUST(!sfg_entry_row(SFG_HOST_ABI, &row));
	return row.cfa;
}

#define ENTRY		entry_cfa().offset
#define SP_REG		entry_cfa().reg
#define FP_REG		((unsigned int)sfg_frame_pointer(SFG_HOST_ABI))

/* The CFA after the stack has grown by @bytes. */
#define SP(bytes)	sfjit_rule_reg(SP_REG, ENTRY + (bytes))
#define FP(bytes)	sfjit_rule_reg(FP_REG, ENTRY + (bytes))
#define SAVED(offset)	sfjit_rule_saved(offset)
#define SAME		sfjit_rule_none()
#define RA		(HAS_RA ? SAVED(-8) : SAME)

/* Flags of rows that say where rbx is, on the machine that has it. */
#define RBX_KEPT	(SFG_HOST_ABI == SFRAME_ABI_AMD64_LE ? \
			 SFJIT_ROW_RBX_KEPT : 0)
#define RBX_SAVED(offset) (SFG_HOST_ABI == SFRAME_ABI_AMD64_LE ? \
			   SFJIT_ROW_RBX_SAVED(offset) : 0)

/* The unit of CFA offsets in rows: 1 or 8. */
static inline int32_t cfa_scale(void)
{
	return sfg_cfa_of_word(SFG_HOST_ABI, 1) -
	       sfg_cfa_of_word(SFG_HOST_ABI, 0);
}

static inline int32_t cfa_word(int32_t offset)
{
	return (offset - sfg_cfa_of_word(SFG_HOST_ABI, 0)) / cfa_scale();
}

#endif /* LIB_MACHINE_H */
