/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * perf's jitdump: code with its name, time and unwinding information. The
 * caller holds the lock. Times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef SFJIT_JITDUMP_H
#define SFJIT_JITDUMP_H

#include <stddef.h>
#include <stdint.h>

struct sfjit_function;

/* Makes @dir/jit-PID.dump; NULL is /tmp. Does nothing if there is one. */
int sfjit_jitdump_open(const char *dir, uint64_t time);

/* Writes the last record. */
int sfjit_jitdump_close(uint64_t time);

/* A forked child's first one makes a file of its own. */
int sfjit_jitdump_load(const struct sfjit_function *function, size_t room,
		       const char *name, uint64_t time);

/* Code is gone. Of a forked child as above. */
int sfjit_jitdump_drop(const void *start, size_t length, uint64_t time);

/* See sfjit_names_room(). */
long sfjit_jitdump_room(const struct sfjit_function *function);

#endif /* SFJIT_JITDUMP_H */
