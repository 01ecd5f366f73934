/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What both generators of calls draw from.
 */
#ifndef CHANCE_H
#define CHANCE_H

#include "../race/check.h"

static uint64_t rng;

static inline unsigned long below(unsigned long n)
{
	return rng_below(&rng, n);
}

static inline bool one_in(unsigned long n)
{
	return !below(n);
}

#endif /* CHANCE_H */
