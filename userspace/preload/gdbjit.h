/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The interface of JITs to gdb: they put ELF files in memory into a list, and
 * call a function that does nothing.
 */
#ifndef SFJIT_PRELOAD_GDBJIT_H
#define SFJIT_PRELOAD_GDBJIT_H

#include <link.h>
#include <stdbool.h>

/*
 * Follows the list of a module, if it has one; may be called again. 'fresh': its
 * code cannot run yet, as it must not if calls are to be noticed.
 */
void gdbjit_follow(const struct dl_phdr_info *info, const char *name,
		   bool fresh);

#endif /* SFJIT_PRELOAD_GDBJIT_H */
