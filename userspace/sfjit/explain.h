/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Ends of stacks in words.
 */
#ifndef SFJIT_RUN_EXPLAIN_H
#define SFJIT_RUN_EXPLAIN_H

#include "perfdata.h"

/* Why a stack ends there. */
const char *explain_why(const struct perfdata_end *end);
/* The fix, in one line. */
const char *explain_remedy(const struct perfdata_end *end);
/* The kind of memory there, or the name of the file. */
const char *explain_module(const struct perfdata_end *end);

#endif /* SFJIT_RUN_EXPLAIN_H */
