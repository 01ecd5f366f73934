// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * ELF sections, by name. We check the header against the size of the file, but
 * cannot check that size: so we copy everything from memory that may be
 * missing.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "self.h"
#include "symfile.h"

#define SECTIONS_MAX	4096
#define CFI_MAX		(32UL << 20)
#define LONGEST_NAME	32

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Shdr) elf_section;

struct symfile {
	uintptr_t address;
	uint64_t size;
	elf_header header;
	elf_section *sections;
	const char **reason;
};

static int fail_symfile(struct symfile *s, const char *why)
{
	*s->reason = why;
	return -EINVAL;
}

static bool copy_bytes(const struct symfile *s, uint64_t offset, void *to,
		       size_t length)
{
	/* It is inside the file. */
	if (offset > s->size || length > s->size - offset)
		return false;
	return self_read(s->address + offset, to, length) == length;
}

static int read_header(struct symfile *s)
{
	const uint8_t *ident = s->header.e_ident;
	size_t length;

	if (!copy_bytes(s, 0, &s->header, sizeof(s->header)))
		return fail_symfile(s, "the file is not in memory");
	if (memcmp(ident, ELFMAG, SELFMAG))
		return fail_symfile(s, "the file is not ELF");
	if (ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    sfg_abi_of_elf(s->header.e_machine, ident[EI_DATA]) != SFG_HOST_ABI)
		return fail_symfile(s, "the file is for another machine");
	if (s->header.e_shentsize != sizeof(elf_section) ||
	    s->header.e_shnum > SECTIONS_MAX ||
	    s->header.e_shstrndx >= s->header.e_shnum)
		return fail_symfile(s, "the file has no usable sections");
	length = s->header.e_shnum * sizeof(elf_section);
	s->sections = malloc(length);
	if (!s->sections)
		return -ENOMEM;
	if (!copy_bytes(s, s->header.e_shoff, s->sections, length))
		return fail_symfile(s, "sections are not in the file");
	return 0;
}

/* 'name' may be at the end of the strings, and of the file. */
static bool is_named(const struct symfile *s, const elf_section *section,
		     const char *name)
{
	const elf_section *strings = &s->sections[s->header.e_shstrndx];
	size_t length = strlen(name) + 1;
	char is[LONGEST_NAME];

	return length <= sizeof(is) &&
	       section->sh_name <= strings->sh_size &&
	       length <= strings->sh_size - section->sh_name &&
	       strings->sh_offset <= s->size &&
	       copy_bytes(s, strings->sh_offset + section->sh_name, is,
			  length) &&
	       !memcmp(is, name, length);
}

static const elf_section *find_elf_section(const struct symfile *s,
					   const char *name)
{
	const elf_section *section;

	for (section = s->sections;
	     section < s->sections + s->header.e_shnum; section++)
		if (is_named(s, section, name))
			return section;
	return NULL;
}

/* An object whose relocations are still to be applied. */
static bool is_relocated(const struct symfile *s, const elf_section *section)
{
	const elf_section *rel;

	for (rel = s->sections; rel < s->sections + s->header.e_shnum; rel++)
		if ((rel->sh_type == SHT_RELA || rel->sh_type == SHT_REL) &&
		    rel->sh_info == (size_t)(section - s->sections) &&
		    rel->sh_size)
			return false;
	return true;
}

static int take_section(struct symfile *s, const elf_section *section,
			struct unit_cfi *cfi)
{
	void *data;

	if (section->sh_size > CFI_MAX)
		return fail_symfile(s, "the frames are over 32 MiB");
	data = malloc(section->sh_size);
	if (!data)
		return -ENOMEM;
	if (!copy_bytes(s, section->sh_offset, data, section->sh_size))
		return fail_symfile(s, "the frames are not in the file");
	cfi->cfi = (struct sfg_image) {
		.data = data, .len = section->sh_size,
		.addr = section->sh_addr,
	};
	return 0;
}

static bool is_usable(const struct symfile *s, const elf_section *section)
{
	return section && section->sh_size && section->sh_type != SHT_NOBITS &&
	       is_relocated(s, section);
}

int symfile_read(uintptr_t address, uint64_t size, struct unit_cfi *cfi,
		 const char **reason)
{
	struct symfile s = {
		.address = address, .size = size, .reason = reason,
	};
	const elf_section *section, *text;
	int ret;

	*reason = "no memory for the file";
	ret = read_header(&s);
	if (ret)
		return ret;
	text = find_elf_section(&s, ".text");
	if (text) {
		cfi->flags |= SFG_INPUT_BASES;
		cfi->text_base = text->sh_addr;
	}
	section = find_elf_section(&s, ".eh_frame");
	if (is_usable(&s, section))
		return take_section(&s, section, cfi);
	section = find_elf_section(&s, ".debug_frame");
	if (!is_usable(&s, section))
		return -ENODATA;
	cfi->flags |= SFG_INPUT_DEBUG_FRAME;
	return take_section(&s, section, cfi);
}
