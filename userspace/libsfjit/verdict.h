/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What checks of sections and of packed tables have in common.
 */
#ifndef SFJIT_VERDICT_H
#define SFJIT_VERDICT_H

#include <sframegen.h>

#include "internal.h"

static inline int complain(struct sfjit_complaint *complaint, int error,
			   const char *reason, uint64_t address)
{
	if (complaint)
		*complaint = (struct sfjit_complaint){
			.reason = reason,
			.address = (const void *)(uintptr_t)address,
		};
	return error;
}

/* Whether code of this machine may sign return addresses. */
static inline bool may_sign(void)
{
	struct sfjit_row row;
	const struct sfjit_function f = { 0, 16, 1, &row, 0, 0 };

	if (sfg_entry_row(SFG_HOST_ABI, &row))
		return false;
	row.flags = SFJIT_ROW_MANGLED_RA;
	return !sfg_check_function(SFG_HOST_ABI, &f, NULL);
}

/* The kernel checks this in the step, which knows the registers. */
static inline const char *check_cfa(const struct sfjit_row *row)
{
	if (sfg_cfas_are_possible(SFG_HOST_ABI, row, 1))
		return NULL;
	return row->cfa.offset % 8 ? "cfa_align" : "cfa_order";
}

#endif /* SFJIT_VERDICT_H */
