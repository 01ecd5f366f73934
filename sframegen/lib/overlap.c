// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Resolves overlapping FDEs. libgcc searches for the last FDE that starts at or
 * before the pc; so take the one that starts last, the inner one of nested
 * functions. Of FDEs with equal starts take the first in the section.
 */
#include <stdlib.h>

#include "cfi.h"

struct sweep {
	const struct cfi_fde *const *fdes;
	size_t *open;		/* active at 'at'; the last one wins */
	size_t depth;
	struct cfi_piece *pieces;
	size_t nr;
	uint64_t at;
};

/* Assigns [s->at, to), and removes functions that end there. */
static void sweep_to(struct sweep *s, uint64_t to)
{
	const struct cfi_fde *fde;
	uint64_t end;

	while (s->depth && s->at < to) {
		fde = s->fdes[s->open[s->depth - 1]];
		end = fde->start + fde->size;
		if (end > to)
			end = to;
		if (end > s->at) {
			s->pieces[s->nr++] = (struct cfi_piece) {
				.lo = s->at, .hi = end,
				.fde = s->open[s->depth - 1],
			};
			s->at = end;
		}
		if (fde->start + fde->size <= s->at)
			s->depth--;
	}
	s->at = to;
}

/* The first FDE at an address wins, so it is pushed last. */
static void sweep_all(struct sweep *s, size_t nr)
{
	size_t i, k, next;

	for (i = 0; i < nr; i = next) {
		sweep_to(s, s->fdes[i]->start);
		for (next = i; next < nr; next++)
			if (s->fdes[next]->start != s->at)
				break;
		for (k = next; k-- > i; )
			s->open[s->depth++] = k;
	}
	sweep_to(s, UINT64_MAX);
}

/* Each FDE adds at most two borders. */
int sfg_cfi_pieces(const struct cfi_fde *const *fdes, size_t nr,
		   struct cfi_piece **pieces, size_t *nr_pieces)
{
	struct sweep s = { .fdes = fdes };

	s.open = malloc((nr + 1) * sizeof(*s.open));
	s.pieces = malloc((2 * nr + 1) * sizeof(*s.pieces));
	if (!s.open || !s.pieces) {
		free(s.open);
		free(s.pieces);
		return -ENOMEM;
	}
	sweep_all(&s, nr);
	free(s.open);
	*pieces = s.pieces;
	*nr_pieces = s.nr;
	return 0;
}
