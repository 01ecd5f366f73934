/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* A table with as many functions as the kernel accepts: an index of 256 MiB. */
#ifndef BENCH_BIG_H
#define BENCH_BIG_H

#include <stdint.h>

/* The single row of each function, relative to the stack pointer. */
#define BIG_CFA		32

/* Makes and registers the table. */
void big_enter(void);

/* A return address in some function. */
uint64_t big_call(void);
void big_leave(void);

#endif /* BENCH_BIG_H */
