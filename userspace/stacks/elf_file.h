/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * ELF files: what of them makes a table. They may be damaged or change while
 * they are read.
 */
#ifndef SFJIT_STACKS_ELF_FILE_H
#define SFJIT_STACKS_ELF_FILE_H

#include <gelf.h>

#include "table.h"

struct elf {
	int fd;				/* -1: in memory */
	const uint8_t *image;
	uint64_t length;
	Elf *elf;
	GElf_Ehdr header;
};

/*
 * Opens the file, or the image if fd is -1. -EINVAL: no ELF file, -EXDEV: of
 * another machine. Both are borrowed until elf_close(), which is only for what
 * was opened.
 */
int elf_open(struct elf *file, unsigned int abi, int fd, const void *image,
	     uint64_t length);
void elf_close(struct elf *file);

/* Its length is 0 where there is none. */
void elf_read_build_id(struct elf *file, struct content *content);
/* The same of a file of any machine. */
void elf_read_build_id_of(int fd, struct content *content);

/* -ENODATA: there is no call frame information, -EINVAL: it is damaged. */
int elf_read_table(struct elf *file, unsigned int abi, struct table *table);

#endif /* SFJIT_STACKS_ELF_FILE_H */
