/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Call frame information that is in a module's file and is not loaded:
 * .debug_frame. Compilers write only that with -fno-asynchronous-unwind-tables
 * -g, and Mono in what it compiles ahead of time.
 */
#ifndef SFJIT_PRELOAD_DEBUG_FRAME_H
#define SFJIT_PRELOAD_DEBUG_FRAME_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include <sframegen.h>

/*
 * 'text' is where the module's code is in memory. Sets *cfi to a copy in the
 * arena. False: the file that is mapped there has none, or is no longer found
 * by its name.
 */
bool debug_frame_read(const struct dl_phdr_info *info, uintptr_t text,
		      struct sfg_image *cfi);

/* The same of the file that is open. */
bool debug_frame_take(int file, struct sfg_image *cfi);

#endif /* SFJIT_PRELOAD_DEBUG_FRAME_H */
