/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Why a process cannot be attached to: one line each, on standard error.
 */
#ifndef SFJIT_ATTACH_REFUSAL_H
#define SFJIT_ATTACH_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Prints "sfjit: PID: ..."; returns 1, the exit status. */
__attribute__((format(printf, 2, 3)))
int refusal_print(pid_t pid, const char *format, ...);

/* What can be seen before it is stopped. Returns 0, or 1: printed. */
int refusal_check(pid_t pid);

/* The error of threads_stop() or of the engine, in words. Returns 1. */
int refusal_explain(pid_t pid, int error);

/* A thread has a seccomp filter, or may make no calls but a few. */
bool refusal_has_filter(pid_t tid);

#endif /* SFJIT_ATTACH_REFUSAL_H */
