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

#include <stdint.h>

/*
 * No thread may run code of the module, nor start to. 0, also if it is diverted already. On
 * failure nothing was written and *reason is a constant string.
 */
int divert(uintptr_t function, void (*call)(uintptr_t argument),
	   uintptr_t argument, const char **reason);

#endif /* SFJIT_PRELOAD_DIVERT_H */
