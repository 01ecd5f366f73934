/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A lock of the threads of a process. An owner that is another process is the
 * copy of a thread that did not survive fork(): the child takes the lock over,
 * so what it protects has to be usable at any point of a change.
 *
 * Not for the child of vfork(), which shares the memory and has another number.
 */
#ifndef SFJIT_PRELOAD_LOCK_H
#define SFJIT_PRELOAD_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct lock {
	uint32_t owner;		/* number of the process; 0: free */
	uint32_t waiting;
};

bool lock_try(struct lock *lock);
/* Waits. Do not wait for ld.so while you hold it: ld.so may wait for us. */
void lock_take(struct lock *lock);
void lock_release(struct lock *lock);

#endif /* SFJIT_PRELOAD_LOCK_H */
