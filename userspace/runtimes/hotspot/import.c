// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Find and write the word through which a library calls another one. */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import.h"

struct library {
	uintptr_t		address;	/* in it */
	uintptr_t		base;
	const ElfW(Dyn)		*dynamic;
	uintptr_t		relro, relro_end;
};

static bool is_in_part(const struct dl_phdr_info *info, const ElfW(Phdr) *part,
		       uintptr_t address)
{
	return address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz;
}

static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct library new = *(struct library *)data, *library = data;
	const ElfW(Phdr) *part = info->dlpi_phdr;
	bool found = false;

	new.base = info->dlpi_addr;
	for (; part < info->dlpi_phdr + info->dlpi_phnum; part++) {
		uintptr_t start = new.base + part->p_vaddr;

		if (part->p_type == PT_LOAD)
			found |= is_in_part(info, part, new.address);
		if (part->p_type == PT_DYNAMIC)
			new.dynamic = (const void *)start;
		if (part->p_type == PT_GNU_RELRO) {
			new.relro = start;
			new.relro_end = start + part->p_memsz;
		}
	}
	if (found)
		*library = new;
	return found;
}

/* ld.so has relocated these values. */
static uintptr_t value_of(const struct library *library, ElfW(Sxword) tag)
{
	const ElfW(Dyn) *entry = library->dynamic;

	while (entry->d_tag != DT_NULL && entry->d_tag != tag)
		entry++;
	return entry->d_tag == tag ? entry->d_un.d_val : 0;
}

static bool is_import(const struct library *library, const ElfW(Rela) *rela,
		      const char *name)
{
	const ElfW(Sym) *symbols = (void *)value_of(library, DT_SYMTAB);
	const char *strings = (void *)value_of(library, DT_STRTAB);
	unsigned int type = ELF64_R_TYPE(rela->r_info);

	return (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
	       !strcmp(strings +
		       symbols[ELF64_R_SYM(rela->r_info)].st_name, name);
}

static void **find_word(const struct library *library, ElfW(Sxword) table,
			ElfW(Sxword) length, const char *name)
{
	const ElfW(Rela) *rela = (void *)value_of(library, table);
	size_t nr = value_of(library, length) / sizeof(*rela);

	for (; rela && nr--; rela++)
		if (is_import(library, rela, name))
			return (void **)(library->base + rela->r_offset);
	return NULL;
}

/* Restore the protection that ld.so has set. */
static bool write_word(const struct library *library, void **word, void *value)
{
	uintptr_t at = (uintptr_t)word, size = sysconf(_SC_PAGESIZE);
	void *page = (void *)(at & -size);
	bool is_protected = at >= library->relro && at < library->relro_end;

	if (is_protected && mprotect(page, size, PROT_READ | PROT_WRITE))
		return false;
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	if (is_protected)
		mprotect(page, size, PROT_READ);
	return true;
}

void *import_replace(const void *address, const char *name, void *to)
{
	struct library library = { .address = (uintptr_t)address };
	void **word, *old;

	if (!dl_iterate_phdr(find_library, &library) || !library.dynamic)
		return NULL;
	word = find_word(&library, DT_JMPREL, DT_PLTRELSZ, name);
	if (!word)
		word = find_word(&library, DT_RELA, DT_RELASZ, name);
	if (!word)
		return NULL;
	old = *word;
	return write_word(&library, word, to) ? old : NULL;
}
