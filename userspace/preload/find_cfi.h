/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * .eh_frame of a module whose program headers do not name it: linkers write no
 * .eh_frame_hdr into static programs, and section headers are not in memory.
 */
#ifndef SFJIT_PRELOAD_FIND_CFI_H
#define SFJIT_PRELOAD_FIND_CFI_H

#include <stdbool.h>

#include "image.h"

/* Of an image with text: sets image->cfi. False: none is for this text. */
bool find_cfi(struct image *image);

#endif /* SFJIT_PRELOAD_FIND_CFI_H */
