/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Why sfjit cannot attach to a process: one line each on standard error.
 */
#ifndef SFJIT_ATTACH_REFUSAL_H
#define SFJIT_ATTACH_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Prints "sfjit: PID: ..." and returns the exit status 1. */
__attribute__((format(printf, 2, 3)))
int refusal_print(pid_t pid, const char *format, ...);

/* Checks made before the process is stopped. Returns 0, or 1 after printing. */
int refusal_check(pid_t pid);

/* Prints an error of threads_stop() or the session. Returns 1. */
int refusal_explain(pid_t pid, int error);

/* Whether the thread has a seccomp filter or is in seccomp's strict mode. */
bool refusal_has_filter(pid_t tid);

#endif /* SFJIT_ATTACH_REFUSAL_H */
