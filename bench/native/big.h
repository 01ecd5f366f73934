/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* A table with as many functions as the kernel takes: an index of 256 MiB. */
#ifndef BENCH_BIG_H
#define BENCH_BIG_H

#include <stdint.h>

/* Of the only row that each function has, from the stack pointer. */
#define BIG_CFA		32

/* Makes and registers the table: as one that grows, or not. */
void big_enter(int live);

/* A return address in any of the functions. */
uint64_t big_call(void);
void big_leave(void);

#endif /* BENCH_BIG_H */
