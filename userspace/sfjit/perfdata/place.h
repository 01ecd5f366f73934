/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What lies where a stack ends.
 */
#ifndef SFJIT_PERFDATA_PLACE_H
#define SFJIT_PERFDATA_PLACE_H

#include "perfdata.h"
#include "reader.h"
#include "unwind.h"

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

#endif /* SFJIT_PERFDATA_PLACE_H */
