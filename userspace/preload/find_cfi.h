/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * .eh_frame of a module whose program headers do not name it: linkers write no
 * .eh_frame_hdr into static programs, and section headers are not in memory.
 */
#ifndef SFJIT_PRELOAD_FIND_CFI_H
#define SFJIT_PRELOAD_FIND_CFI_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include <sframegen.h>

/* False: there is none whose functions are all in this text. */
bool find_cfi(const struct dl_phdr_info *info, const struct sfg_image *text,
	      size_t nr_text, struct sfg_image *cfi);

#endif /* SFJIT_PRELOAD_FIND_CFI_H */
