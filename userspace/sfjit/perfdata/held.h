/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Records that wait to be written. A program may write the description of its
 * code late: CPython does when it has 4 KiB, or ends. A sample in such code
 * waits for it, and all later records wait for the sample.
 */
#ifndef SFJIT_PERFDATA_HELD_H
#define SFJIT_PERFDATA_HELD_H

#include "perfdata.h"
#include "reader.h"

/* The result of a sample. */
struct outcome {
	bool none;			/* it has no stack */
	struct perfdata_end end;
	enum sfjit_stacks_reason why;	/* as the tracker counts it */
	bool by_code;
};

struct held_record {
	struct held_record *next;
	uint8_t *bytes;			/* as it would be written now */
	size_t length;
	bool waits;
	/* The rest is for one that waits. */
	uint8_t *sample;		/* by sample_shrink() */
	size_t size;
	uint64_t time, offset;
	uint64_t address;		/* code that is not described */
	pid_t pid;
	struct outcome outcome;
	char *module;			/* of the outcome */
};

/* One that is all zero is empty. */
struct held {
	struct held_record *first, *last;
	size_t bytes;
};

void held_free(struct held *held);

/* Appends a copy of a record. -ENOMEM, or 0. */
int held_add(struct held *held, const uint8_t *bytes, size_t length);

/*
 * The same for a sample that waits until the code at @address is described.
 * @bytes: as it would be written now, with that outcome.
 */
int held_add_sample(struct held *held, const uint8_t *bytes, size_t length,
		    const struct event *event, const struct sample *sample,
		    uint64_t address, const struct outcome *outcome);

/* Keeps the outcome of one that waits. 0, or -ENOMEM. */
int held_outcome(struct held_record *record, const struct outcome *outcome);

/* Replaces the bytes of a record. 0, or -ENOMEM. */
int held_replace(struct held *held, struct held_record *record,
		 const uint8_t *bytes, size_t length);

/* A record waits no longer. */
void held_release(struct held *held, struct held_record *record);

/* Removes the first record. */
void held_remove(struct held *held);

#endif /* SFJIT_PERFDATA_HELD_H */
