/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The modules of this process and their windows. The caller sees to it that
 * one thread at a time is in here.
 */
#ifndef SFJIT_PRELOAD_MODULES_H
#define SFJIT_PRELOAD_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

#define MODULE_MAX_WINDOWS	16

struct window {
	uintptr_t start;
	size_t length;
};

/* A module without windows is kept, so that it is not tried again. */
struct module {
	struct module *next;
	uintptr_t bias;
	const void *phdr;
	uint64_t identity;
	bool initial;		/* loaded at start: never unloaded */
	bool seen;
	unsigned int nr_windows;
	struct table table;
	struct window windows[MODULE_MAX_WINDOWS];
};

/* Modules were loaded or unloaded since the last scan. */
bool modules_changed(void);

/*
 * Registers what is new and frees the tables of what has gone. Returns the
 * number of modules that have windows.
 */
unsigned int modules_scan(bool initial);

#endif /* SFJIT_PRELOAD_MODULES_H */
