/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Attach and detach while the process is stopped: completely or not at all,
 * unless it exits meanwhile. Attached windows are recognized by their sections,
 * which are in a mapping with the name below.
 */
#ifndef SFJIT_ATTACH_SESSION_H
#define SFJIT_ATTACH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"

/* As in /proc/PID/maps. */
#define SESSION_MEMORY	"/memfd:sfjit-attach (deleted)"

struct outcome {
	unsigned int added, removed;	/* windows */
	unsigned int others;		/* existing windows of the same code */
	size_t bytes;			/* of tables */
	uint64_t stopped_ns;
};

/*
 * Replaces what was attached before. Returns 0, -ESTALE if the process has
 * mapped other code since the plan was made, or 1 after printing.
 */
int session_attach(const struct plan *plan, struct outcome *outcome);

/* Returns 0, or 1 after printing. */
int session_detach(pid_t pid, struct outcome *outcome);

#endif /* SFJIT_ATTACH_SESSION_H */
