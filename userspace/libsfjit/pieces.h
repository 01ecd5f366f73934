/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Split functions that have many rows: the kernel reads them one by one.
 */
#ifndef SFJIT_PIECES_H
#define SFJIT_PIECES_H

#include "internal.h"

/* Rows of an entry. Kernels with older patches read no more. */
#define SFJIT_MAX_ROWS	64

/* A copy, as the rows of each piece start from 0. */
struct sfjit_pieces {
	const struct sfjit_function	*function;
	uint32_t			done;	/* rows */
	struct sfjit_function		piece;
	struct sfjit_row		rows[SFJIT_MAX_ROWS];
};

/*
 * Checks what the pieces alone do not show. Call it before sfjit_next_piece().
 * Returns 0, -EINVAL or -E2BIG.
 */
int sfjit_first_piece(struct sfjit_pieces *pieces,
		      const struct sfjit_function *function);

/* Returns the next piece, or NULL. A function of few rows is one piece. */
const struct sfjit_function *sfjit_next_piece(struct sfjit_pieces *pieces);

#endif /* SFJIT_PIECES_H */
