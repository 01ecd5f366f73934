/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * An ELF file in memory, to be read as if ld.so had loaded it.
 */
#ifndef SFJIT_RUN_ELF_MAP_H
#define SFJIT_RUN_ELF_MAP_H

#include <link.h>

/*
 * Readable only, and without what is beyond the file. Nothing is run, and the
 * file may be of anybody; but reading ends the program if it is cut short
 * meanwhile. Stays mapped. Returns 0 or -errno; -ENOEXEC: not ELF, of another
 * machine, or malformed.
 */
int elf_map(const char *path, struct dl_phdr_info *info);

#endif /* SFJIT_RUN_ELF_MAP_H */
