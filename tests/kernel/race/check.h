/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Results of tests that look at the same thing millions of times, from several
 * threads and processes: each is one line of output.
 */
#ifndef CHECK_H
#define CHECK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../lib/tap.h"

/**
 * struct check - something that has to hold each time
 * @name:	what holds
 * @good:	how often it was looked at and held
 * @bad:	how often it did not
 * @why:	the first time
 */
struct check {
	const char	*name;
	unsigned long	good;
	unsigned long	bad;
	char		why[400];
};

#define CHECK(text)	{ .name = (text) }

void check_good(struct check *check);
__attribute__((format(printf, 2, 3)))
void check_bad(struct check *check, const char *format, ...);
/* Counts @ok; says whether it is. */
#define check_that(check, ok, ...)					\
	((ok) ? (check_good(check), true) :				\
	 (check_bad((check), __VA_ARGS__), false))

/* Memory for checks that children of fork() count in as well. */
struct check *checks_share(const struct check *checks, unsigned int nr);

/*
 * Prints each as a case. One that was never checked fails: the test did not do
 * its work.
 */
void checks_print(const struct check *checks, unsigned int nr);

/* Was each looked at @enough times more than @before? */
bool checks_enough(const struct check *checks, const unsigned long *enough,
		   const unsigned long *before, unsigned int nr);
/* How often each was looked at. */
void checks_count(const struct check *checks, unsigned long *counts,
		  unsigned int nr);

/* ---- random numbers ------------------------------------------------------ */

/* Print and set the seed: @text, or a new one if it is NULL or empty. */
void rng_seed(const char *text);
/* A generator of its own for each @stream of the seed. */
uint64_t rng_start(uint64_t stream);
uint64_t rng_next(uint64_t *state);
uint64_t rng_below(uint64_t *state, uint64_t limit);

/* ---- files --------------------------------------------------------------- */

/* Returns the number after @word at the start of a line of @path, or -1. */
long read_number(const char *path, const char *word);

/* A lock whose writer gets in, though there is always a reader. */
void gate_init(pthread_rwlock_t *gate);
/* Seconds since some start. */
double seconds_now(void);

#endif /* CHECK_H */
