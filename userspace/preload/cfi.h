/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Finds call frame information that no program header names. Copies are in the
 * arena.
 */
#ifndef SFJIT_PRELOAD_CFI_H
#define SFJIT_PRELOAD_CFI_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sframegen.h>

#include "units.h"

/*
 * .eh_frame of a module whose program headers do not name it: linkers write no
 * .eh_frame_hdr into static programs, and section headers are not in memory.
 *
 * False: there is none whose functions are all in this text.
 */
bool cfi_find(const struct dl_phdr_info *info, const struct sfg_image *text,
	      size_t nr_text, struct sfg_image *cfi);

/*
 * Call frame information from what a program gave to __register_frame().
 *
 * libgcc takes records up to a zero terminator, LLVM's libunwind one FDE: what
 * begins with a CIE is the first, what begins with an FDE the second. The
 * result is a copy in the arena, for the addresses of the original. On failure
 * *reason is a constant string. -ENODATA: there are no records, which is no
 * mistake.
 */
int cfi_read_frames(uintptr_t begin, struct sfg_image *image,
		    const char **reason);

/*
 * Call frame information from an ELF file in memory, as JITs make them for
 * debuggers.
 *
 * Sets cfi, flags, and the base of text. A copy in the arena. -ENODATA: there is
 * none, or it is not relocated: it is in the words of a linker, which tells the
 * unwinder what it made of them. On other failures *reason is a constant string.
 */
int cfi_read_elf(uintptr_t address, uint64_t size, struct unit_cfi *cfi,
		 const char **reason);

/*
 * Call frame information that is in a module's file and is not loaded:
 * .debug_frame. Compilers write only that with -fno-asynchronous-unwind-tables
 * -g, and Mono in what it compiles ahead of time.
 *
 * 'text' is where the module's code is in memory. Sets *cfi to a copy in the
 * arena. False: the file that is mapped there has none, or is no longer found
 * by its name.
 */
bool cfi_read_module(const struct dl_phdr_info *info, uintptr_t text,
		     struct sfg_image *cfi);

/* The same of the file that is open. */
bool cfi_read_file(int file, struct sfg_image *cfi);

#endif /* SFJIT_PRELOAD_CFI_H */
