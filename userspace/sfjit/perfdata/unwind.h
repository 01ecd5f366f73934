/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A sample's frames of user space, and what lies where they end.
 */
#ifndef SFJIT_PERFDATA_UNWIND_H
#define SFJIT_PERFDATA_UNWIND_H

#include <sfjit-stacks.h>

#include "perfdata.h"
#include "reader.h"
#include "sample.h"

struct frames {
	uint64_t ips[SFJIT_STACKS_MAX_FRAMES];
	size_t nr;
	enum sfjit_stacks_reason end;	/* why there are no more */
	bool by_code;			/* some by instructions: no rules */
	size_t by_pointer;		/* first one found so; 0: none */
};

/* 0, or -ENOMEM. */
int unwind_sample(struct sfjit_stacks *stacks, const struct attr *attr,
		  const struct sample *sample, uint64_t time,
		  struct frames *frames);

/*
 * The kind of memory at an address, and its name, which is valid for a moment.
 * If there is none, the callee's is of more use; it may be NULL.
 */
void place_find(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		const uint64_t *address, const uint64_t *callee,
		struct perfdata_end *end);

/* The end of one sample's copy of the stack, whose frames these are. */
struct perfdata_end place_of_copy(struct sfjit_stacks *stacks,
				  const struct event *event,
				  const struct frames *frames);

pid_t place_pid(const struct event *event);

#endif /* SFJIT_PERFDATA_UNWIND_H */
