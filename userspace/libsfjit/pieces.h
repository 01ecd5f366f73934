/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions of more rows than the kernel reads of an entry, in pieces.
 */
#ifndef SFJIT_PIECES_H
#define SFJIT_PIECES_H

#include "internal.h"

/* Rows of an entry, see SFRAME_STEP_ROWS of the kernel. */
#define SFJIT_MAX_ROWS	64

/* The rows of a piece start anew, so they are a copy. */
struct sfjit_pieces {
	const struct sfjit_function	*function;
	uint32_t			done;	/* rows */
	struct sfjit_function		piece;
	struct sfjit_row		rows[SFJIT_MAX_ROWS];
};

/*
 * Checks what the pieces alone do not show. Returns 0, -EINVAL or -E2BIG. To be
 * called before sfjit_next_piece().
 */
int sfjit_first_piece(struct sfjit_pieces *pieces,
		      const struct sfjit_function *function);

/* The next piece, or NULL. A function of few rows is its own only one. */
const struct sfjit_function *sfjit_next_piece(struct sfjit_pieces *pieces);

#endif /* SFJIT_PIECES_H */
