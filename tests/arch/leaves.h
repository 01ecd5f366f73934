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

/* @f has exactly these false ranges; each is followed by a blank. */
void false_are(const char *name, const struct sfjit_function *f,
	       const void *text, const char *wanted);

/* The leaves of @text are sorted, disjoint, and inside the text. */
bool leaves_are_sorted(const void *text, uint32_t size);

#endif /* TEST_LEAVES_H */
