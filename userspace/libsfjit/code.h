/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Windows that own their table.
 */
#ifndef SFJIT_CODE_CREATE_H
#define SFJIT_CODE_CREATE_H

#include "internal.h"

/* @text is the key of the window. */
struct sfjit_code_window {
	void		*section;	/* packed table, from malloc() */
	size_t		length;
	const void	*text;
	size_t		text_length;
};

/*
 * @fill: makes the table of one of @nr windows and sets its text. The caller
 * frees a table that was set, even if @fill fails
 */
struct sfjit_code_request {
	int	(*fill)(struct sfjit_code_window *window, size_t i,
			const void *from);
	const void	*from;
	size_t		nr;
};

/* Makes and registers all windows or none. Returns 0 or -errno. */
int sfjit_code_create(const struct sfjit_code_request *request,
		      struct sfjit_code **result);

#endif /* SFJIT_CODE_CREATE_H */
