/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Count instructions in a guest run by tools/guest --icount. Functions that
 * fail print why and exit.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* trigger.S */
unsigned long bench_trigger(void *sp, void *fp);
extern const char bench_trigger_insn[];
unsigned long bench_thousand(void);

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

_Noreturn void die(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Exits unless now() counts instructions. */
void check_icount(void);

/* Sorts the values; half of them are at most the result. */
uint64_t median(uint64_t *values, size_t nr);
double mean(const uint64_t *values, size_t nr);

/* The same numbers in each run, and after a restart. */
uint32_t random_below(uint32_t limit);
void random_restart(void);

/* Anonymous memory; present if @prot has PROT_WRITE. */
void *map_memory(size_t size, int prot);

#endif /* BENCH_MEASURE_H */
