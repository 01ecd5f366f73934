/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The build-ids of files and of the kernel.
 */
#ifndef SFJIT_RUN_ELF_NOTE_H
#define SFJIT_RUN_ELF_NOTE_H

#include "perfdata.h"

/* Of an ELF file of any machine; its length is 0 if there is none. */
void elf_note_of_file(int fd, struct perfdata_build_id *id);

/* Of the running kernel. */
void elf_note_of_kernel(struct perfdata_build_id *id);

#endif /* SFJIT_RUN_ELF_NOTE_H */
