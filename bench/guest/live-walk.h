/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef BENCH_LIVE_WALK_H
#define BENCH_LIVE_WALK_H

#include "../live.h"

/*
 * Instructions that the kernel needs for one more frame of these functions,
 * which are in a window. The stacks are the same in each call.
 */
double live_walk_step(const struct live_function *functions, size_t nr,
		      size_t nr_stacks);

#endif /* BENCH_LIVE_WALK_H */
