/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Exits if memory cannot be allocated.
 */
#ifndef SFJIT_RUN_CHECK_ALLOC_H
#define SFJIT_RUN_CHECK_ALLOC_H

/* Returns a pointer from malloc() or the like; exits if it is NULL. */
void *check_alloc(void *allocated);

#endif /* SFJIT_RUN_CHECK_ALLOC_H */
