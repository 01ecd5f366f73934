/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * sfjit run of a program that preloads nothing: sfjit attach to it.
 */
#ifndef SFJIT_RUN_AT_START_H
#define SFJIT_RUN_AT_START_H

#include <stdbool.h>

/* This kernel has windows, and this machine sfjit attach. */
bool at_start_possible(void);

/*
 * Another process attaches to this one as soon as it has executed a program. It
 * reports errors where the module reports registrations. 0 or -errno.
 */
int at_start_attach(void);

#endif /* SFJIT_RUN_AT_START_H */
