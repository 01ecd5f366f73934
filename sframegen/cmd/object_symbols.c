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

/* The section with the indices that have no room in the symbols themselves. */
static Elf_Data *read_indices(struct object *f, size_t symtab)
{
	GElf_Shdr shdr;
	size_t i;

	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, &shdr) && shdr.sh_link == symtab &&
		    shdr.sh_type == SHT_SYMTAB_SHNDX)
			return object_section_data(f, i, SHT_SYMTAB_SHNDX);
	return NULL;
}

bool object_read_symtab(struct object *f, size_t index,
			struct object_symtab *table)
{
	table->symbols = object_section_data(f, index, SHT_SYMTAB);
	table->indices = table->symbols ? read_indices(f, index) : NULL;
	return table->symbols;
}

/* From 0xff00 on, an index in st_shndx is a mark, SHN_XINDEX among them. */
bool object_get_symbol(const struct object *f,
		       const struct object_symtab *table, size_t i,
		       GElf_Sym *sym, size_t *section)
{
	Elf32_Word index = 0;

	if (!gelf_getsymshndx(table->symbols, table->indices, i, sym, &index))
		return false;
	if (sym->st_shndx < SHN_LORESERVE)
		index = sym->st_shndx;
	else if (sym->st_shndx != SHN_XINDEX)
		index = SHN_UNDEF;
	*section = index < f->nr_sections ? index : SHN_UNDEF;
	return true;
}

/* Labels of an assembler file are functions if .type says so. */
static bool is_function(struct object *f, const GElf_Sym *sym, size_t section)
{
	return GELF_ST_TYPE(sym->st_info) == STT_FUNC && section &&
	       (!f->section_addr || f->section_addr[section] != NOWHERE);
}

/* The name lives in libelf's copy of the table, until object_close(). */
static void add_function(struct object *f, size_t strings,
			 const GElf_Sym *sym, size_t section)
{
	const char *name = object_string(f, strings, sym->st_name);

	if (!*name)
		return;
	f->functions[f->nr_functions++] = (struct object_symbol) {
		.name = name,
		.addr = f->section_addr ?
			f->section_addr[section] + sym->st_value :
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
	size_t index = find_symbols(f, &shdr), i, nr, section;
	struct object_symtab table;
	GElf_Sym sym;

	if (!index || !object_read_symtab(f, index, &table))
		return 0;
	nr = table.symbols->d_size / sizeof(Elf64_Sym);
	f->functions = calloc(nr + 1, sizeof(*f->functions));
	if (!f->functions)
		return object_no_memory(f);
	for (i = 0; i < nr; i++)
		if (object_get_symbol(f, &table, i, &sym, &section) &&
		    is_function(f, &sym, section))
			add_function(f, shdr.sh_link, &sym, section);
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
