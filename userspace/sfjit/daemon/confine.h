/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_DAEMON_CONFINE_H
#define SFJIT_DAEMON_CONFINE_H

#include <stddef.h>

/*
 * Leaves this process one file, standard error, memory, and so many seconds of
 * CPU time. It has no user's rights and ends with its parent. Each system call
 * that it does not need kills it. 'shared' are the bytes that it shares.
 * Returns the file's new number; exits if anything fails.
 */
int confine(int fd, size_t shared, int seconds);

#endif /* SFJIT_DAEMON_CONFINE_H */
