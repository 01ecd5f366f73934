/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The modules that a process has mapped, with their tables. These are made
 * while the process runs. It may lie about all of them: only its own stacks are
 * wrong then.
 */
#ifndef SFJIT_ATTACH_PLAN_H
#define SFJIT_ATTACH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ps.h"
#include "table.h"

struct planned {
	char *name;
	uint64_t bias;
	struct table table;	/* without windows: */
	const char *reason;	/* why there are none */
};

struct plan {
	pid_t pid;
	struct ps_maps maps;
	uint64_t code;		/* of a system call instruction; 0: not found */
	struct planned *modules;
	size_t nr;
};

/* Call plan_free() even on failure. Returns 0, -errno, or 1 after printing. */
int plan_make(struct plan *plan, pid_t pid);
void plan_free(struct plan *plan);

/* Whether the process still has the same code mapped. */
bool plan_is_current(const struct plan *plan, const struct ps_maps *maps);

/* Finds a system call instruction without making a plan. */
uint64_t plan_find_call(pid_t pid, const struct ps_maps *maps);

#endif /* SFJIT_ATTACH_PLAN_H */
