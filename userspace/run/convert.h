/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A recording, converted and reported: of sfjit inject and sfjit record.
 */
#ifndef SFJIT_RUN_CONVERT_H
#define SFJIT_RUN_CONVERT_H

#include <stdbool.h>

/* What standard input and output are called. */
bool is_standard(const char *name);

/* "sfjit: NAME: WHY"; returns 1. */
int convert_complain(const char *name, const char *why);

/*
 * Makes the file called 'output' of what 'in' has, which is called 'input'.
 * Says how it went, unless it is quiet. Returns the exit status.
 */
int convert(const char *input, int in, const char *output, bool quiet);

#endif /* SFJIT_RUN_CONVERT_H */
