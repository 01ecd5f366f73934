/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * The most expensive walks with tables of sframegen: 10,000 functions with the
 * maximum number of rows per FDE, and stacks of functions from the whole table,
 * each deepest in the search and in its last row.
 */
#ifndef BENCH_LEGAL_H
#define BENCH_LEGAL_H

#include "stack.h"

struct legal_kind {
	const char *name;
	uint32_t size;		/* of a function: width of row starts */
	uint32_t frame;		/* of its stack: width of data words */
	int flex;		/* one of the rows needs a FLEX FDE */
};

#define LEGAL_NR_KINDS	4

extern const struct legal_kind legal_kinds[LEGAL_NR_KINDS];

void legal_enter(const struct legal_kind *kind);

/* With @probe, the code of probe_place() is in such a function too. */
void legal_build(struct stack *stack, size_t depth, int probe);
void legal_leave(void);

#endif /* BENCH_LEGAL_H */
