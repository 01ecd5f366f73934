/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * For programs that read what a command prints.
 */
#ifndef SFJIT_RUN_JSON_H
#define SFJIT_RUN_JSON_H

#include <stdio.h>

/* In quotes; characters as of printable_next(). NULL is null. */
void json_put_string(const char *text, FILE *out);

#endif /* SFJIT_RUN_JSON_H */
