/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef FUZZ_FLIP_H
#define FUZZ_FLIP_H

struct shadow;

/*
 * Part @part of @of of the bits of a section; @copy, @pages (zeros), @shadow
 * and @owner are for its length and a page more. Returns the number of steps.
 */
unsigned long flip_bits(unsigned char *bytes, unsigned long length,
			unsigned char *copy, unsigned int *owner,
			struct shadow *shadow, unsigned char *pages,
			unsigned int part, unsigned int of);

#endif
