/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Libraries that are installed with this program.
 */
#ifndef SFJIT_RUN_LIBRARY_H
#define SFJIT_RUN_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

/* From our directory. */
#define LIBRARY_PRELOAD_NAME	"libsfjit-preload.so"
#define LIBRARY_PRELOAD		"../lib/sfjit/" LIBRARY_PRELOAD_NAME
#define LIBRARY_HOTSPOT		"../lib/sfjit/libsfjit-hotspot.so"

/* Returns 0, or -errno; then the path is that of what could not be found. */
int library_find(const char *name, char path[PATH_MAX]);

/* ld.so separates the list in LD_PRELOAD at some bytes and knows no quoting. */
bool library_can_preload(const char *path);

/*
 * Loads the module that is loaded into programs into this one: it makes the
 * tables. Returns the address of one of its functions; NULL after an error
 * message.
 */
void *library_function(const char *name, char path[PATH_MAX]);

#endif /* SFJIT_RUN_LIBRARY_H */
