/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * perf's jitdump: code with its name, time and unwinding information. Call
 * these with the lock held. Times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef SFJIT_JITDUMP_H
#define SFJIT_JITDUMP_H

#include <stddef.h>
#include <stdint.h>

struct sfjit_function;

/* Creates @dir/jit-PID.dump (NULL: /tmp) unless it is open already. */
int sfjit_jitdump_open(const char *dir, uint64_t time);

int sfjit_jitdump_close(uint64_t time);

/* Writes a LOAD record. In a forked child, the first creates its own file. */
int sfjit_jitdump_load(const struct sfjit_function *function, size_t room,
		       const char *name, uint64_t time);

/* Records that code was freed. Forked children as above. */
int sfjit_jitdump_drop(const void *start, size_t length, uint64_t time);

/* See sfjit_names_room(). */
long sfjit_jitdump_room(const struct sfjit_function *function);

#endif /* SFJIT_JITDUMP_H */
