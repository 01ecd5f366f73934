/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Hooks of SFJIT_DEBUG between a registration and the kernel. register.c knows
 * nothing else of it.
 */
#ifndef SFJIT_DEBUG_H
#define SFJIT_DEBUG_H

#include "internal.h"

/*
 * @ask: registers with the kernel; returns 0, -errno, or 1 without windows
 * Each returns the result for the caller.
 */
struct sfjit_debug {
	int (*do_register)(uintptr_t key, const struct sfjit_table *table,
			   bool replace, int (*try)(void *), void *arg);
	int (*do_unregister)(uintptr_t key, int (*try)(void *), void *arg);
};

/* NULL without SFJIT_DEBUG. Defined in register.c. */
extern const struct sfjit_debug *sfjit_debug;

void sfjit_debug_start(bool abort_too);

#endif /* SFJIT_DEBUG_H */
