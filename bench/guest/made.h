/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Artificial tables that make a step expensive. */
#ifndef BENCH_MADE_H
#define BENCH_MADE_H

#include <stddef.h>
#include <stdint.h>

#define MADE_MAX_PROBES	25
#define MADE_MAX_ROWS	64

/* Distance of a return address from the start of the text. */
#define MADE_CALL	200

/* Rules of the rows; stack_add_stored()'s frames match them all. */
enum made_kind {
	MADE_CFA,		/* DEFAULT, one word */
	MADE_CFA_FP,		/* DEFAULT, two words */
	MADE_FLEX_CFA,		/* FLEX: CFA loaded, two words */
	MADE_FLEX_RA,		/* and RA, four words */
	MADE_FLEX_FP,		/* CFA loaded, padding, FP: five words */
	MADE_FLEX_ALL,		/* all six words */
	MADE_NR_KINDS,
};

struct made_table {
	unsigned int probes;	/* of the search, at least 1 */
	unsigned int rows;
	enum made_kind kind;
	unsigned int start_size;	/* of a row's start, log2 of bytes */
	unsigned int word_size;		/* of a data word, log2 of bytes */
	unsigned int tail;	/* rows begin this far before a page ends */
	int mask;		/* PCMASK */
};

/* Reserves address space: text for @nr windows, and sections. */
void made_map(size_t nr, size_t nr_sections);

/* Selects the section for new tables; initially number 0. */
void made_choose(size_t nr);

/* Text of a window; texts of different numbers do not touch. */
uint64_t made_text(size_t i);

/* Makes a table the only one in the section, and registers it with text i. */
void made_register(const struct made_table *table, size_t i);
void made_unregister(size_t i);

/* A window that is entirely a signal return trampoline. */
void made_register_signal(size_t i);

/* A window of the same section, without an FDE for it. */
void made_register_other(size_t i);

#endif /* BENCH_MADE_H */
