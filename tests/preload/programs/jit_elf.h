/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * An ELF file in memory with call frame information, as JITs make for gdb.
 */
#ifndef JIT_ELF_H
#define JIT_ELF_H

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "jit_code.h"

enum { ELF_NULL, ELF_TEXT, ELF_FRAMES, ELF_STRINGS, ELF_SECTIONS };

struct elf_file {
	Elf64_Ehdr header;
	Elf64_Shdr sections[ELF_SECTIONS];
	uint8_t frames[sizeof(((struct frames *)0)->bytes)];
	char strings[40];
};

/* The frames have absolute addresses, so the file can be anywhere. */
static inline void elf_make(struct elf_file *file, const struct frames *frames,
			    int debug_frame, uint64_t text, uint64_t size)
{
	static const char strings[] =
		"\0.text\0.eh_frame\0.debug_frame\0.shstrtab";

	memset(file, 0, sizeof(*file));
	memcpy(file->header.e_ident, ELFMAG, SELFMAG);
	file->header.e_ident[EI_CLASS] = ELFCLASS64;
	file->header.e_ident[EI_DATA] = ELFDATA2LSB;
	file->header.e_ident[EI_VERSION] = EV_CURRENT;
	file->header.e_type = ET_EXEC;
	file->header.e_machine = EM_X86_64;
	file->header.e_version = EV_CURRENT;
	file->header.e_ehsize = sizeof(file->header);
	file->header.e_shoff = offsetof(struct elf_file, sections);
	file->header.e_shentsize = sizeof(Elf64_Shdr);
	file->header.e_shnum = ELF_SECTIONS;
	file->header.e_shstrndx = ELF_STRINGS;
	file->sections[ELF_TEXT] = (Elf64_Shdr) {
		.sh_name = 1, .sh_type = SHT_NOBITS, .sh_addr = text,
		.sh_size = size,
	};
	file->sections[ELF_FRAMES] = (Elf64_Shdr) {
		.sh_name = debug_frame ? 17 : 7, .sh_type = SHT_PROGBITS,
		.sh_offset = offsetof(struct elf_file, frames),
		.sh_size = frames->length,
	};
	file->sections[ELF_STRINGS] = (Elf64_Shdr) {
		.sh_name = 30, .sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct elf_file, strings),
		.sh_size = sizeof(strings),
	};
	memcpy(file->frames, frames->bytes, frames->length);
	memcpy(file->strings, strings, sizeof(strings));
}

#endif /* JIT_ELF_H */
