/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Go's table of functions in a module, see sframegen.h. No program header names
 * it, and sections are not in memory.
 */
#ifndef SFJIT_PRELOAD_FIND_GO_H
#define SFJIT_PRELOAD_FIND_GO_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include <sframegen.h>

/* Looks at all constant data. False: there is none for this text. */
bool find_go(const struct dl_phdr_info *info, const struct sfg_image *text,
	     size_t nr_text, struct sfg_go *go);

#endif /* SFJIT_PRELOAD_FIND_GO_H */
