/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Find methods that were just compiled, on the thread that compiled them.
 *
 * After installing a method the VM queues an event and wakes the thread that
 * delivers it. That thread may have to wait for a CPU while the method already
 * runs. The waking thread still has the method's address among the last words
 * of its stack, as the event was created there. Before that it takes a lock to
 * install the method, with the address on the stack as well.
 */
#ifndef SFJIT_EARLY_H
#define SFJIT_EARLY_H

#include <stdbool.h>
#include <stdint.h>

/* @installed: the thread is waking another one; else it is taking a lock. */
typedef void (*early_look)(uintptr_t word, bool installed);

/*
 * From now on threads that compile for the VM, which has the function at
 * @address, pass such words to @look, whatever they are. They hold VM locks, so
 * @look must not call the VM. Returns false if the VM wakes or locks in another
 * way.
 */
bool early_start(const void *address, early_look look);

#endif /* SFJIT_EARLY_H */
