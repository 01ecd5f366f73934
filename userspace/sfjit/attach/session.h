/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What is done while a process is stopped. All of it, or nothing, unless the
 * process ends. What was attached is known by its memory: sections in a mapping
 * of a name that attach gives it.
 */
#ifndef SFJIT_ATTACH_SESSION_H
#define SFJIT_ATTACH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"

/* Of /proc/PID/maps: a file in memory is one without a directory. */
#define SESSION_MEMORY	"/memfd:sfjit-attach (deleted)"

struct outcome {
	unsigned int added, removed;	/* windows */
	unsigned int others;		/* that were there, of the same code */
	size_t bytes;			/* of tables */
	uint64_t stopped_ns;
};

/*
 * In place of what was attached before. Returns 0; -ESTALE: the process has
 * mapped other code since the plan was made; 1: printed.
 */
int session_attach(const struct plan *plan, struct outcome *outcome);

/* 0, or 1: printed. */
int session_detach(pid_t pid, struct outcome *outcome);

#endif /* SFJIT_ATTACH_SESSION_H */
