/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Memory, or the end of the program.
 */
#ifndef SFJIT_RUN_MUST_H
#define SFJIT_RUN_MUST_H

/* For pointers from malloc() and its like: ends the program if it is NULL. */
void *must(void *allocated);

#endif /* SFJIT_RUN_MUST_H */
