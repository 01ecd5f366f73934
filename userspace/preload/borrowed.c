// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdbool.h>

#include "borrowed.h"
#include "code.h"

static const struct sfjit_row entry = CODE_JUMP_ROW;

/* From its first instruction on there is more than a return address. */
static bool is_borrowed(const struct sfjit_function *f)
{
	const struct sfjit_row *row = f->rows;

	if (!f->nr_rows || row->flags || row->cfa.deref ||
	    row->cfa.base != entry.cfa.base || row->cfa.reg != entry.cfa.reg ||
	    row->cfa.offset <= entry.cfa.offset)
		return false;
	for (; row < f->rows + f->nr_rows; row++)
		if (row->fp.base != SFJIT_BASE_NONE)
			return false;
	return true;
}

/*
 * No rule says that it is unknown. An odd value does: the kernel ends a walk at
 * a frame that is not aligned.
 */
static struct sfjit_rule unknown(void)
{
	return sfjit_rule_reg(entry.cfa.reg, 1);
}

int borrowed_amend(const struct sfg_input *in, struct sfg_fdes *fdes)
{
	struct sfjit_row *row;
	size_t i;

	for (i = 0; i < fdes->nr; i++) {
		if (!is_borrowed(&fdes->fdes[i]))
			continue;
		/* All rows of 'fdes' are in its array. */
		row = fdes->rows + (fdes->fdes[i].rows - fdes->rows);
		for (; row < fdes->fdes[i].rows + fdes->fdes[i].nr_rows; row++)
			if (!(row->flags & SFJIT_ROW_OUTERMOST))
				row->fp = unknown();
	}
	return 0;
}
