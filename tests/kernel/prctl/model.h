/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What prctl(PR_SFRAME_*) has to answer, from the document of the interface
 * (kernel-patches/linux/Documentation/userspace-api/sframe.rst), the memory of
 * this process, and the calls before.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/sframe.h>
#include "sframe_packed_format.h"

#define PAGE	4096UL

/* Instructions start at multiples of UNIT. After sframe_test.h. */
#define UNIT		(1UL << SFT_UNIT_SHIFT)

/* ---- memory.c: what is mapped -------------------------------------------- */

/* Look at the mappings, after they changed. */
void memory_read(void);
bool memory_readable(unsigned long start, unsigned long size);
bool memory_writable(unsigned long start, unsigned long size);
bool memory_mapped(unsigned long start, unsigned long size);
/* First address after user space; its last page is mapped. */
unsigned long memory_task_size(void);

/* ---- model.c ------------------------------------------------------------- */

/* Several errors may be right at once: which comes first is not documented. */
typedef uint32_t errset;
#define ERROR(nr)	((errset)1 << (nr))

struct call {
	unsigned long	option;
	unsigned long	arg[4];
};

#define MAX_WINDOWS	64

struct window {
	unsigned long	key;
	unsigned long	start;
	unsigned long	end;
	unsigned long	section;
	unsigned long	length;
	unsigned long	bias;
	const char	*kind;		/* as /proc shows it */
};

/**
 * struct answer - what a call has to do
 * @errors:	what is wrong with it; 0: it succeeds
 * @result:	what it then returns
 * @window:	registered by it
 */
struct answer {
	errset		errors;
	long		result;
	struct window	window;
};

extern struct window windows[MAX_WINDOWS];
extern unsigned int nr_windows;
extern long limit;

/* How long a table with this header has to be. */
unsigned long packed_length(const struct sframe_packed_header *header);

void model_ask(const struct call *call, struct answer *answer);
/* The call succeeded. */
void model_done(const struct call *call, const struct answer *answer);
void model_unmapped(unsigned long start, unsigned long size);
/* By ascending text. */
void model_sort(void);

#endif /* MODEL_H */
