// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdbool.h>

#include "borrowed.h"
#include "code.h"

static const struct sfjit_row entry = CODE_JUMP_ROW;

/* Does the CFA start from the stack pointer at the first instruction? */
static bool starts_from_sp(const struct sfjit_function *f)
{
	const struct sfjit_row *row = f->rows;

	return f->nr_rows && !row->flags && !row->cfa.deref &&
	       row->cfa.base == entry.cfa.base &&
	       row->cfa.reg == entry.cfa.reg;
}

/*
 * Less than a return address is nowhere: PHP says of its stubs, which run in the
 * same frame as its other code, that there is nothing.
 */
static bool is_false(const struct sfjit_function *f)
{
	return starts_from_sp(f) && f->rows->cfa.offset < entry.cfa.offset;
}

/* From its first instruction on there is more than a return address. */
static bool is_borrowed(const struct sfjit_function *f)
{
	const struct sfjit_row *row = f->rows;

	if (!starts_from_sp(f) || row->cfa.offset <= entry.cfa.offset)
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

static void remove_false(struct sfg_fdes *fdes)
{
	size_t i, kept = 0;

	for (i = 0; i < fdes->nr; i++)
		if (!is_false(&fdes->fdes[i]))
			fdes->fdes[kept++] = fdes->fdes[i];
	fdes->nr = kept;
}

int borrowed_amend(const struct sfg_input *in, struct sfg_fdes *fdes)
{
	struct sfjit_row *row;
	size_t i;

	remove_false(fdes);
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
