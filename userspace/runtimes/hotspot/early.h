/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Methods that were just compiled, on the thread that did it.
 *
 * The VM queues an event for a method when it is installed, and wakes the
 * thread that tells of it. That thread may have to wait for a CPU, while the
 * method runs on others. The thread that wakes it has the method's address
 * among the last words of its stack: the event is there, before it is queued.
 * Before that it takes a lock, to install the method, and has the address as
 * well.
 */
#ifndef SFJIT_EARLY_H
#define SFJIT_EARLY_H

#include <stdbool.h>
#include <stdint.h>

/* @installed: of who wakes another thread, else of who takes a lock. */
typedef void (*early_look)(uintptr_t word, bool installed);

/*
 * From now on @look gets these words, whatever they are, on threads that
 * compile for the VM with the function at @address. They hold locks of the VM:
 * @look calls nothing of it. Returns false if its threads do either in another
 * way.
 */
bool early_start(const void *address, early_look look);

#endif /* SFJIT_EARLY_H */
