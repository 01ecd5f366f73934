/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions that do nothing, and are there for a debugger's breakpoint: ld.so
 * and JITs call one to say that something happened. They are called directly,
 * so that no other definition can take their place; instead a jump to ours is
 * written over them. A breakpoint at their first byte works as before.
 *
 * One thread at a time.
 */
#ifndef SFJIT_PRELOAD_DIVERT_H
#define SFJIT_PRELOAD_DIVERT_H

#include <link.h>
#include <stdbool.h>

/*
 * When ld.so has mapped modules or unmapped some:
 * From now on ld.so calls it, with its lock for dlopen() held: after it has
 * mapped libraries, and before any of their code runs.
 */
void divert_loader(void (*changed)(void));

/*
 * The interface of JITs to gdb: they put ELF files in memory into a list, and
 * call a function that does nothing.
 *
 * Follows the list of a module, if it has one; may be called again. 'fresh': its
 * code cannot run yet, as it must not if calls are to be noticed.
 */
void divert_gdb(const struct dl_phdr_info *info, const char *name,
		bool fresh);

#endif /* SFJIT_PRELOAD_DIVERT_H */
