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

/*
 * Modules were loaded since the last scan. Those that were unloaded are kept
 * until then: they may come again.
 */
bool modules_added(void);

/*
 * Registers what is new and frees the tables of what has gone. Returns the
 * number of modules that have windows. 'fresh': code of new ones cannot run
 * yet.
 */
unsigned int modules_scan(bool initial, bool fresh);

#endif /* SFJIT_PRELOAD_MODULES_H */
