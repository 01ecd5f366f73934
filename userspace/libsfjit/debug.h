/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What SFJIT_DEBUG puts between a registration and the kernel. The file that
 * calls prctl() knows no more of it than this.
 */
#ifndef SFJIT_DEBUG_H
#define SFJIT_DEBUG_H

#include "internal.h"

/*
 * @ask does the registration: 0, -errno, or 1 if the kernel knows no windows.
 * Returns what the call is to return. A table without a section has a text.
 */
struct sfjit_debug {
	int (*do_register)(uintptr_t key, const struct sfjit_table *table,
			   bool replace, int (*ask)(void *), void *arg);
	int (*do_unregister)(uintptr_t key, int (*ask)(void *), void *arg);
};

/* NULL: nothing is between. In register.c. */
extern const struct sfjit_debug *sfjit_debug;

void sfjit_debug_start(bool abort_too);

#endif /* SFJIT_DEBUG_H */
