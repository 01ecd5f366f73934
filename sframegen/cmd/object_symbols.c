// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The functions that an ELF file names. */
#include <stdlib.h>

#include "object.h"

static int compare_symbols(const void *x, const void *y)
{
	const struct object_symbol *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	/* by place: many may have one long name */
	return (a->name > b->name) - (a->name < b->name);
}

/* Labels of an assembler file are functions if .type says so. */
static bool is_function(struct object *f, const GElf_Sym *sym)
{
	return GELF_ST_TYPE(sym->st_info) == STT_FUNC &&
	       sym->st_shndx != SHN_UNDEF && sym->st_shndx < f->nr_sections;
}

/* The name lives in libelf's copy of the table, until object_close(). */
static void add_function(struct object *f, size_t strings,
			 const GElf_Sym *sym)
{
	const char *name = object_string(f, strings, sym->st_name);

	if (!*name)
		return;
	f->functions[f->nr_functions++] = (struct object_symbol) {
		.name = name,
		.addr = f->section_addr ?
			f->section_addr[sym->st_shndx] + sym->st_value :
			sym->st_value,
		.size = sym->st_size,
	};
}

/* A file has one SHT_SYMTAB at most; .dynsym lacks what is local. */
static size_t find_symbols(struct object *f, GElf_Shdr *shdr)
{
	size_t i;

	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, shdr) && shdr->sh_type == SHT_SYMTAB)
			return i;
	return 0;
}

int object_read_symbols(struct object *f)
{
	GElf_Shdr shdr;
	size_t index = find_symbols(f, &shdr), i, nr;
	Elf_Data *data = index ? object_section_data(f, index,
						     SHT_SYMTAB) : NULL;
	GElf_Sym sym;

	if (!data)
		return 0;
	nr = data->d_size / sizeof(Elf64_Sym);
	f->functions = calloc(nr + 1, sizeof(*f->functions));
	if (!f->functions)
		return object_no_memory(f);
	for (i = 0; i < nr; i++)
		if (gelf_getsym(data, i, &sym) && is_function(f, &sym))
			add_function(f, shdr.sh_link, &sym);
	qsort(f->functions, f->nr_functions, sizeof(*f->functions),
	      compare_symbols);
	return 0;
}

/* A symbol without a size is found at its own address only. */
const struct object_symbol *object_find_function(const struct object *f,
						 uint64_t addr)
{
	size_t lo = 0, hi = f->nr_functions, mid;
	const struct object_symbol *s;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->functions[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	s = lo ? &f->functions[lo - 1] : NULL;
	return s && (addr - s->addr < s->size || addr == s->addr) ? s : NULL;
}
