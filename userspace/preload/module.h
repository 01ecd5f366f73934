/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A module of this process: its table and its windows.
 */
#ifndef SFJIT_PRELOAD_MODULE_H
#define SFJIT_PRELOAD_MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

enum module_todo {
	MODULE_DONE,
	MODULE_LOAD,		/* it is new */
	MODULE_REVISIT,		/* others were unloaded */
};

/* A module without windows is kept, so that it is not tried again. */
struct module {
	struct module *next;
	uintptr_t bias;
	const void *phdr;
	uint64_t identity;
	bool initial;		/* loaded at start: never unloaded */
	bool seen;
	enum module_todo todo;
	struct dl_phdr_info info;	/* as of the last scan */
	unsigned int refused;	/* of its windows, by the kernel */
	int error;		/* the first one's */
	bool replaced;		/* memory was mapped over its text */
	unsigned int tries;	/* since then */
	uint64_t sum;		/* text before that */
	struct table table;	/* and its windows */
};

#endif /* SFJIT_PRELOAD_MODULE_H */
