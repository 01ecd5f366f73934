/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * When ld.so has mapped modules or unmapped some.
 */
#ifndef SFJIT_PRELOAD_LOADER_H
#define SFJIT_PRELOAD_LOADER_H

/*
 * From now on ld.so calls it, with its lock for dlopen() held: after it has
 * mapped libraries, and before any of their code runs.
 */
void loader_follow(void (*changed)(void));

#endif /* SFJIT_PRELOAD_LOADER_H */
