/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What may end a program is tried in another one.
 */
#ifndef SFJIT_RUN_CHILD_H
#define SFJIT_RUN_CHILD_H

#include <stddef.h>

/*
 * Runs this in a child, which may be killed by what it tries, with a copy of
 * the trial that both have. Returns 0, or the signal that ended the child.
 */
int child_try(void (*attempt)(void *trial), void *trial, size_t size);

#endif /* SFJIT_RUN_CHILD_H */
