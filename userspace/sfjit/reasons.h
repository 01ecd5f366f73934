/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Reasons for which the kernel ended walks, as in /proc/PID/sframe: what they
 * mean, and the file of sfjit run --reasons.
 */
#ifndef SFJIT_RUN_REASONS_H
#define SFJIT_RUN_REASONS_H

#include <stdint.h>

#include "ps.h"

/* Plain words for a reason; NULL for one that is newer than this. */
const char *reasons_explain(const char *reason);

/* Reasons of all processes of a file of sfjit run --reasons, by number. */
struct followed_reason {
	char name[PS_WORD];
	uint64_t count;
	char *last;		/* where the last walk of a process ended so */
};

struct followed {
	struct followed_reason *reasons;
	size_t nr;
	unsigned int processes;	/* that ended with windows */
};

/* Returns 0, -errno, or -EPROTO: another wrote it. reasons_free() anyway. */
int reasons_read(struct followed *followed, const char *file);
void reasons_free(struct followed *followed);

#endif /* SFJIT_RUN_REASONS_H */
