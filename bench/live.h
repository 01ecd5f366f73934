/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Functions as a JIT appends them: alternately three rows (a push and a frame)
 * and four (a frame pointer). No two neighbours have the same frame.
 */
#ifndef BENCH_LIVE_H
#define BENCH_LIVE_H

#include <sfjit.h>

#define LIVE_FUNCTION_SIZE	128
#define LIVE_ROWS		4	/* at most */

struct live_function {
	struct sfjit_function function;
	struct sfjit_row rows[LIVE_ROWS];
};

static inline void live_fill_rows(struct sfjit_row *rows, size_t i)
{
	const struct sfjit_row at_entry = {
		0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE,
		SFJIT_NO_RULE
	};
	const struct sfjit_rule saved = SFJIT_SAVED(-16);
	const struct sfjit_rule from_fp = SFJIT_REG(SFJIT_X86_64_FP, 16);

	rows[0] = rows[1] = rows[2] = rows[3] = at_entry;
	rows[1].start = 1;
	rows[1].cfa.offset = 16;
	rows[1].fp = rows[2].fp = saved;
	rows[2].start = i % 2 ? 4 : 9;
	rows[2].cfa.offset = 24 + i % 12 * 8;
	if (i % 2)
		rows[2].cfa = from_fp;
	rows[3].start = LIVE_FUNCTION_SIZE - 1;
}

/* Describes the i-th function of code that starts at @text. */
static inline void live_fill(struct live_function *to, uintptr_t text, size_t i)
{
	live_fill_rows(to->rows, i);
	to->function = (struct sfjit_function){
		.addr = text + i * LIVE_FUNCTION_SIZE,
		.size = LIVE_FUNCTION_SIZE,
		.nr_rows = LIVE_ROWS - 1 + i % 2,
		.rows = to->rows,
	};
}

#endif /* BENCH_LIVE_H */
