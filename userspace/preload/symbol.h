/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Dynamic symbols of a module that may not have been relocated yet. dlsym()
 * takes a lock of ld.so that must not be taken while dl_iterate_phdr() runs.
 */
#ifndef SFJIT_PRELOAD_SYMBOL_H
#define SFJIT_PRELOAD_SYMBOL_H

#include <link.h>
#include <stdint.h>

/* Where it is; 0: the module does not define it. */
uintptr_t symbol_find(const struct dl_phdr_info *info, const char *name);

#endif /* SFJIT_PRELOAD_SYMBOL_H */
