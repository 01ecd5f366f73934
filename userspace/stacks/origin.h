/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What lies in memory: a file that was mapped, or code that was generated. Each
 * is there once and counted, whoever has it mapped.
 */
#ifndef SFJIT_STACKS_ORIGIN_H
#define SFJIT_STACKS_ORIGIN_H

#include <sfjit-stacks.h>

struct table;

enum origin_kind {
	ORIGIN_FILE,		/* its table is read when it is needed */
	ORIGIN_MEMORY,		/* no file: maybe generated code */
	ORIGIN_CODE,		/* generated code that was described */
};

struct origin {
	unsigned int refs;
	enum origin_kind kind;
	bool looked;			/* the next two are known */
	struct table *table;		/* counted; NULL: none */
	enum sfjit_stacks_reason why;	/* there is none */
	bool missing;			/* no process opened it yet */
	pid_t tried;			/* the last one */
	unsigned int tries;
	bool frame_pointer;		/* ORIGIN_CODE: it keeps them */
	void (*release)(struct origin *origin);	/* at the last put */
	void *owner;			/* of release() */
	struct sfjit_stacks_mapping id;	/* of a file: what tells it apart */
	char path[];
};

/* NULL is an origin, too. */
struct origin *origin_get(struct origin *origin);
void origin_put(struct origin *origin);

/* Takes over the table, which may be NULL; NULL: no memory, it is released. */
struct origin *origin_of_code(struct table *table, bool frame_pointer);

#endif /* SFJIT_STACKS_ORIGIN_H */
