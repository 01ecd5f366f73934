/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What is to be registered in a process: the modules that it has mapped, with
 * their tables, which are made while it runs. It may lie about all of them; its
 * stacks are wrong then.
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
	const char *reason;	/* why */
};

struct plan {
	pid_t pid;
	struct ps_maps maps;
	uint64_t code;		/* of a system call; 0: none was found */
	struct planned *modules;
	size_t nr;
};

/* plan_free() in each case. 0 or -errno; 1: printed. */
int plan_make(struct plan *plan, pid_t pid);
void plan_free(struct plan *plan);

/* The process has its code where it was. */
bool plan_is_current(const struct plan *plan, const struct ps_maps *maps);

/* Finds code of a system call, for who needs nothing else. */
uint64_t plan_find_call(pid_t pid, const struct ps_maps *maps);

#endif /* SFJIT_ATTACH_PLAN_H */
