/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions made at run time that stay in themselves for a while, so that
 * samples hit them, and use the frame pointer as a counter: only their rows
 * lead to the caller. On their stack lies what looks like a return address;
 * rows of another function, or the poisoned ones, find it.
 */
#ifndef SPIN_H
#define SPIN_H

#include "sframe_test.h"

/* No code is there. */
#define SPIN_FAKE	0x5afe0badUL

/* Space for any of them. */
#define SPIN_SIZE	64
#define SPIN_ROWS	9
#define SPIN_WORDS	5
#define SPIN_TABLE	256

/*
 * struct spin - a function and its rows
 * @code:	followed by int3
 * @size:	bytes of the function
 * @ret:	offset of the instruction after the call, or 0
 * @nr_rows:	number of rows
 * @rows:	rows
 */
struct spin {
	__u8		code[SPIN_SIZE];
	__u8		size;
	__u8		ret;
	__u8		nr_rows;
	struct sft_row	rows[SPIN_ROWS];
};

/*
 * Make one with @words fake return addresses, 1 to SPIN_WORDS, that counts to
 * @count and, if @calls, calls what r9 points to.
 */
void spin_make(struct spin *spin, unsigned int words, __u32 count, bool calls);

/* Write the section of @spin, placed at @text, to @sec; returns its size. */
size_t spin_section(void *sec, const void *text, const struct spin *spin);
/* The same, but its rows find the fake return address. */
size_t spin_poison(void *sec, const void *text, const struct spin *spin);
/* Both as packed tables; none is longer than SPIN_TABLE. */
size_t spin_table(void *table, const void *text, const struct spin *spin);
size_t spin_table_poison(void *table, const void *text,
			 const struct spin *spin);

#endif /* SPIN_H */
