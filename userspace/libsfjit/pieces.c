// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Split functions into pieces with as many rows as the kernel reads.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "pieces.h"

static bool ascend(const struct sfjit_function *function)
{
	const struct sfjit_row *row = function->rows;
	uint32_t i;

	for (i = 1; i < function->nr_rows; i++)
		if (row[i].start <= row[i - 1].start)
			return false;
	return !row[0].start;
}

int sfjit_first_piece(struct sfjit_pieces *pieces,
		      const struct sfjit_function *function)
{
	pieces->function = function;
	pieces->done = 0;
	if (function->nr_rows <= SFJIT_MAX_ROWS)
		return 0;
	if (function->repeat)
		return -E2BIG;
	/* A piece ends where the next begins, so starts must ascend. */
	if (!ascend(function) ||
	    function->rows[function->nr_rows - 1].start >= function->size ||
	    function->addr + function->size < function->addr)
		return -EINVAL;
	return 0;
}

static void copy_rows(struct sfjit_pieces *pieces, uint32_t base, uint32_t nr)
{
	const struct sfjit_row *rows = pieces->function->rows + pieces->done;
	uint32_t i;

	memcpy(pieces->rows, rows, nr * sizeof(*rows));
	for (i = 0; i < nr; i++)
		pieces->rows[i].start -= base;
	pieces->piece.rows = pieces->rows;
	pieces->piece.nr_rows = nr;
}

const struct sfjit_function *sfjit_next_piece(struct sfjit_pieces *pieces)
{
	const struct sfjit_function *function = pieces->function;
	uint32_t done = pieces->done, nr = function->nr_rows - done, base, end;

	/* Also a function without rows, for the encoder to refuse. */
	if (!done && nr <= SFJIT_MAX_ROWS) {
		pieces->done = UINT32_MAX;
		return function;
	}
	if (done >= function->nr_rows)
		return NULL;
	if (nr > SFJIT_MAX_ROWS)
		nr = SFJIT_MAX_ROWS;
	base = function->rows[done].start;
	end = done + nr < function->nr_rows ? function->rows[done + nr].start :
					      function->size;
	pieces->piece = *function;
	pieces->piece.addr += base;
	pieces->piece.size = end - base;
	copy_rows(pieces, base, nr);
	pieces->done += nr;
	return &pieces->piece;
}
