/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions with a single row, by which they have a frame from their first
 * instruction on: what their instructions say of that.
 */
#ifndef SFJIT_FRAMED_H
#define SFJIT_FRAMED_H

#include <bare.h>

/* As bare_false(). If there are too many ranges, one covers the whole code. */
size_t framed_false(const struct sfjit_function *f, const uint8_t *text,
		    struct bare_range ranges[BARE_FALSE_MAX]);

#endif /* SFJIT_FRAMED_H */
