/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The module that is loaded into programs, in this one: it makes the tables.
 */
#ifndef SFJIT_RUN_MODULE_H
#define SFJIT_RUN_MODULE_H

#include <limits.h>

/* The address of one of its functions; NULL after an error message. */
void *module_function(const char *name, char path[PATH_MAX]);

#endif /* SFJIT_RUN_MODULE_H */
