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
#include <stdint.h>

/*
 * Modules were loaded since the last scan. Those that were unloaded are kept
 * until then: they may come again.
 */
bool modules_added(void);

/*
 * Registers what is new and frees the tables of what has gone. Returns the
 * number of modules that have windows. 'fresh': code of new ones cannot run
 * yet. 'stay': none can be unloaded meanwhile, as ld.so's lock is held or they
 * have been there from the start.
 */
unsigned int modules_scan(bool initial, bool fresh, bool stay);

/*
 * Memory is about to be mapped over these addresses, and the kernel drops the
 * windows there: programs map their text over itself, for huge pages.
 */
void modules_replace(uintptr_t start, uintptr_t end);
/* Some have no windows for that reason. Any thread may ask. */
bool modules_replaced(void);
/* Text there is executable: windows come back where it is the same as before. */
void modules_executable(uintptr_t start, uintptr_t end);

#endif /* SFJIT_PRELOAD_MODULES_H */
