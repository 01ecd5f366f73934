// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Checks that many threads and processes count in, and small things beside.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static uint64_t seed;

void check_good(struct check *check)
{
	__atomic_fetch_add(&check->good, 1, __ATOMIC_RELAXED);
}

void check_bad(struct check *check, const char *format, ...)
{
	va_list args;

	/* Only the first one writes; it is read when all are gone. */
	if (__atomic_fetch_add(&check->bad, 1, __ATOMIC_RELAXED))
		return;
	va_start(args, format);
	vsnprintf(check->why, sizeof(check->why), format, args);
	va_end(args);
}

struct check *checks_share(const struct check *checks, unsigned int nr)
{
	struct check *shared = mmap(NULL, nr * sizeof(*checks),
				    PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return NULL;
	memcpy(shared, checks, nr * sizeof(*checks));
	return shared;
}

static void print_check(const struct check *check)
{
	char name[200];

	if (check->bad) {
		result(false, check->name, "%lu of %lu, first %s", check->bad,
		       check->good + check->bad, check->why);
	} else if (!check->good) {
		result(false, check->name, "never looked at");
	} else {
		snprintf(name, sizeof(name), "%s (%lu)", check->name,
			 check->good);
		result(true, name, "-");
	}
}

void checks_print(const struct check *checks, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		print_check(&checks[i]);
}

static unsigned long looked_at(const struct check *check)
{
	return __atomic_load_n(&check->good, __ATOMIC_RELAXED) +
	       __atomic_load_n(&check->bad, __ATOMIC_RELAXED);
}

void checks_count(const struct check *checks, unsigned long *counts,
		  unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		counts[i] = looked_at(&checks[i]);
}

bool checks_enough(const struct check *checks, const unsigned long *enough,
		   const unsigned long *before, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (looked_at(&checks[i]) - before[i] < enough[i])
			return false;
	return true;
}

void rng_seed(const char *text)
{
	if (text && *text)
		seed = strtoull(text, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = time(NULL);
	printf("# seed 0x%llx\n", (unsigned long long)seed);
	fflush(stdout);
}

/* Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators */
uint64_t rng_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint64_t rng_start(uint64_t stream)
{
	uint64_t state = seed + stream * 0xd1342543de82ef95;

	return rng_next(&state);
}

uint64_t rng_below(uint64_t *state, uint64_t limit)
{
	return rng_next(state) % limit;
}

long read_number(const char *path, const char *word)
{
	size_t len = strlen(word);
	char line[256];
	long value = -1;
	FILE *file = fopen(path, "re");

	if (!file)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, word, len))
			value = strtol(line + len, NULL, 10);
	fclose(file);
	return value;
}

void gate_init(pthread_rwlock_t *gate)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr,
		PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(gate, &attr);
}

double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}
