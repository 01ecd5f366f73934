/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What records say of processes, told to a tracker of stacks.
 */
#ifndef SFJIT_PERFDATA_TRACK_H
#define SFJIT_PERFDATA_TRACK_H

#include "attr.h"
#include "features.h"
#include "jitdump.h"

/* More processes than these are not noted. */
#define LAUNCHED_MOST	(1U << 16)

struct track {
	struct sfjit_stacks *stacks;
	const struct features *features;
	const struct perfdata_files *files;	/* NULL, or to be told */
	struct jitdumps dumps;
	const char *launcher;	/* NULL, or what it is called */
	struct table launched;	/* processes that had it at any time */
};

void track_free(struct track *track);

/* Whether a record says something of processes. */
bool track_wants(const struct track *track, const struct attr *attr,
		 const uint8_t *event);

/*
 * One of these, in the order of time. It is at @offset of the input; @time is 0
 * for what was there before all others. A mapping may get its file's build-id.
 */
int track_record(struct track *track, const struct attr *attr,
		 uint8_t *event, size_t size, uint64_t time,
		 uint64_t offset, struct trouble *trouble);

#endif /* SFJIT_PERFDATA_TRACK_H */
