/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the module did, on request: SFJIT_VERBOSE=1 to standard error,
 * SFJIT_LOG=/path to the end of a file. One write(2) per line.
 */
#ifndef SFJIT_PRELOAD_REPORT_H
#define SFJIT_PRELOAD_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "table.h"
#include "units.h"
#include "windows.h"

void report_init(char **environment);
bool report_wanted(void);

/* The kernel refused so many of its windows, the first with this error. */
void report_registered(const char *name, const struct table *table,
		       unsigned int refused, int error, uint64_t ns);
/* The text of a module that starts there has its windows again. */
void report_again(uintptr_t text);
void report_skipped(const char *name, const char *reason, int error);
void report_ready(unsigned int modules, enum windows_kernel kernel);

/* Of code that a JIT has described; 'key' is where the description is. */
void report_code(uintptr_t key, bool gdb, const struct unit_result *result,
		 uint64_t ns);
void report_code_skipped(uintptr_t key, const char *reason, int error);
void report_code_gone(uintptr_t key);
void report_code_kept(uintptr_t key);
/* Nobody describes it, and it keeps no frame pointers. */
void report_code_ends(uintptr_t key);
/* Of a function whose calls are noticed; 'reason': why they are not. */
void report_followed(const char *name, const char *function,
		     const char *reason, int error);

#endif /* SFJIT_PRELOAD_REPORT_H */
