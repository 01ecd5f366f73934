/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A process with its own window. Walking its stack makes this CPU drop the
 * cached rules of other processes.
 */
#ifndef BENCH_OTHER_H
#define BENCH_OTHER_H

/* It exits with this process. Does nothing if the kernel has no windows. */
void other_start(void);

/* Returns after its stack was walked. */
void other_walk(void);

#endif /* BENCH_OTHER_H */
