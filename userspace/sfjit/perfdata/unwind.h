/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A sample's frames of user space.
 */
#ifndef SFJIT_PERFDATA_UNWIND_H
#define SFJIT_PERFDATA_UNWIND_H

#include <sfjit-stacks.h>

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

#endif /* SFJIT_PERFDATA_UNWIND_H */
