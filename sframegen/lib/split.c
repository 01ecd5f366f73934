// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Counts the cost of limiting the rows of an FDE. */
#include "core.h"

#define FDE_COST	(sizeof(struct sframe_fde) + \
			 sizeof(struct sframe_fde_attr))

/* The rows of a function over all its FDEs. */
struct pieces {
	uint64_t fdes, cuts, rows;
	uint64_t start_bytes;		/* that the rows' starts take */
	uint32_t last_start;		/* from the function's */
};

static unsigned int start_width(const struct sfjit_function *fde)
{
	return 1u << sfg_start_shift(fde->rows[fde->nr_rows - 1].start);
}

static void add_split_piece(struct pieces *p,
			    const struct sfjit_function *function,
			    const struct sfjit_function *fde)
{
	uint64_t addr;
	uint32_t i;

	p->fdes++;
	p->cuts += fde->addr > function->addr;
	for (i = 0; i < fde->nr_rows; i++) {
		addr = fde->addr + fde->rows[i].start;
		if (addr - function->addr >= function->size)
			continue;
		p->rows++;
		p->start_bytes += start_width(fde);
		p->last_start = addr - function->addr;
	}
}

/* Negative if wider starts in one FDE cost more than several FDEs. */
static int64_t bytes_more(const struct pieces *p)
{
	return p->cuts * FDE_COST + p->start_bytes -
	       (p->rows << sfg_start_shift(p->last_start));
}

void sfg_count_split(const struct sfjit_function *functions, size_t nr,
		     const struct sfjit_function *fdes, size_t nr_fdes,
		     unsigned int max_rows, struct sfg_summary *sum)
{
	const struct sfjit_function *function;
	size_t i, at = 0;

	for (i = 0; i < nr; i++) {
		struct pieces p = { 0 };

		function = &functions[i];
		if (function->repeat || function->nr_rows <= max_rows)
			continue;
		/* each function is in some FDE, maybe in the last one's */
		while (at < nr_fdes &&
		       function->addr - fdes[at].addr >= fdes[at].size)
			at++;
		if (at == nr_fdes)
			break;
		do
			add_split_piece(&p, function, &fdes[at++]);
		while (at < nr_fdes &&
		       fdes[at].addr - function->addr < function->size);
		at--;
		sum->split_functions++;
		sum->split_fdes += p.fdes;
		sum->split_bytes += bytes_more(&p);
	}
}
