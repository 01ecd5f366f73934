/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Call frame information from an ELF file in memory, as JITs make them for
 * debuggers.
 */
#ifndef SFJIT_PRELOAD_SYMFILE_H
#define SFJIT_PRELOAD_SYMFILE_H

#include <stdint.h>

#include "units.h"

/*
 * Sets cfi, flags, and the base of text. A copy in the arena. -ENODATA: there is
 * none, or it is not relocated: it is in the words of a linker, which tells the
 * unwinder what it made of them. On other failures *reason is a constant string.
 */
int symfile_read(uintptr_t address, uint64_t size, struct unit_cfi *cfi,
		 const char **reason);

#endif /* SFJIT_PRELOAD_SYMFILE_H */
