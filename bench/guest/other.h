/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A process with a window of its own: when its stack is walked, this CPU forgets
 * the rules that it has cached of the others.
 */
#ifndef BENCH_OTHER_H
#define BENCH_OTHER_H

/* It ends with this process. Without windows in the kernel there is none. */
void other_start(void);

/* Returns when its stack was walked. */
void other_walk(void);

#endif /* BENCH_OTHER_H */
