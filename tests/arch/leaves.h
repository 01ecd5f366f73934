/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Cases of <bare.h> for each machine: ranges as "START-END[:ROW] ...", in hex.
 */
#ifndef TEST_LEAVES_H
#define TEST_LEAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bare.h>

/* The leaves of @text are these. */
void leaves_are(const char *name, const void *text, uint32_t size,
		const char *wanted);

/* The false ranges of @f are these; each has a blank behind it. */
void false_are(const char *name, const struct sfjit_function *f,
	       const void *text, const char *wanted);

/* The leaves of @text are sorted, apart, and inside of it. */
bool leaves_are_sorted(const void *text, uint32_t size);

#endif /* TEST_LEAVES_H */
