// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Functions that an ELF file names. */
#include <grow.h>
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

/* The section with indices that do not fit the symbols. */
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

/* From 0xff00 on, st_shndx is a special value such as SHN_XINDEX. */
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

/* A label in assembly is a function if .type says so. */
static bool is_function(struct object *f, const GElf_Sym *sym, size_t section)
{
	return GELF_ST_TYPE(sym->st_info) == STT_FUNC && section &&
	       (!f->section_addr || f->section_addr[section] != NOWHERE);
}

/* libelf owns the name until object_close(). */
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

/* A file has at most one SHT_SYMTAB; .dynsym lacks local symbols. */
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

/* A symbol without a size is found only at its own address. */
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

/* ---- For the analysis of code ------------------------------------------- */

struct addresses {
	uint64_t *list;
	size_t nr, max;
};

static int add_address(struct addresses *a, uint64_t address)
{
	if (!grow_array(&a->list, &a->max, a->nr, sizeof(*a->list)))
		return -ENOMEM;
	a->list[a->nr++] = address;
	return 0;
}

static int compare_addresses(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static void sort_addresses(struct addresses *a)
{
	if (a->nr)
		qsort(a->list, a->nr, sizeof(*a->list), compare_addresses);
}

/*
 * Functions that never return, by standards or as compilers assume: the code
 * after a call of one belongs to another function.
 */
static const char *const never_return[] = {
	"_Exit", "_Unwind_Resume", "_ZSt10unexpectedv", "_ZSt9terminatev",
	"__assert", "__assert_fail", "__assert_perror_fail", "__chk_fail",
	"__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_call_terminate",
	"__cxa_call_unexpected", "__cxa_deleted_virtual",
	"__cxa_pure_virtual", "__cxa_rethrow", "__cxa_throw",
	"__cxa_throw_bad_array_new_length", "__fortify_fail", "__libc_fatal",
	"__libc_start_main", "__longjmp_chk", "__stack_chk_fail",
	"_dl_fatal_printf", "_dl_signal_error", "_dl_signal_exception",
	"_exit", "_longjmp", "abort", "err", "errx", "exit", "longjmp",
	"pthread_exit", "quick_exit", "siglongjmp", "thrd_exit", "verr",
	"verrx",
};

static int compare_names(const void *x, const void *y)
{
	return strcmp(x, *(const char *const *)y);
}

/* libstdc++'s throwing helpers of templates all have such names. */
static bool never_returns(const char *name)
{
	return (!strncmp(name, "_ZSt", 4) && strstr(name, "__throw_")) ||
	       bsearch(name, never_return,
		       sizeof(never_return) / sizeof(*never_return),
		       sizeof(*never_return), compare_names);
}

static Elf_Data *read_symbols(struct object *f, size_t index)
{
	Elf_Data *data = object_section_data(f, index, SHT_DYNSYM);

	return data ? data : object_section_data(f, index, SHT_SYMTAB);
}

/*
 * A linkage table's word holds a function's address if a relocation stores it. Most
 * relocations of a library are relative: they have symbol 0, which has no name.
 */
static int add_no_return(struct object *f, size_t index, const GElf_Shdr *shdr,
			 struct addresses *a)
{
	Elf_Data *data = object_section_data(f, index, SHT_RELA);
	Elf_Data *symbols = data ? read_symbols(f, shdr->sh_link) : NULL;
	GElf_Shdr table;
	GElf_Rela rela;
	GElf_Sym sym;
	size_t i;
	int ret = 0;

	if (!symbols || !object_section(f, shdr->sh_link, &table))
		return 0;
	for (i = 0; i < data->d_size / sizeof(Elf64_Rela) && !ret; i++)
		if (gelf_getrela(data, i, &rela) && GELF_R_SYM(rela.r_info) &&
		    gelf_getsym(symbols, GELF_R_SYM(rela.r_info), &sym) &&
		    never_returns(object_string(f, table.sh_link,
						sym.st_name)))
			ret = add_address(a, rela.r_offset);
	return ret;
}

/* Compilers also name parts of functions: function.cold. */
static bool is_entered(struct object *f, const GElf_Sym *sym, size_t strings)
{
	return sym->st_shndx != SHN_UNDEF &&
	       GELF_ST_TYPE(sym->st_info) == STT_FUNC &&
	       !strstr(object_string(f, strings, sym->st_name), ".cold");
}

static int add_entries(struct object *f, size_t index, const GElf_Shdr *shdr,
		       struct addresses *a)
{
	Elf_Data *symbols = read_symbols(f, index);
	GElf_Sym sym;
	size_t i;
	int ret = 0;

	if (!symbols)
		return 0;
	for (i = 0; i < symbols->d_size / sizeof(Elf64_Sym) && !ret; i++)
		if (gelf_getsym(symbols, i, &sym) &&
		    is_entered(f, &sym, shdr->sh_link))
			ret = add_address(a, sym.st_value);
	return ret;
}

/* Addresses of an object file are known only after linking. */
int object_read_entries(struct object *f)
{
	struct addresses entries = { 0 }, no_return = { 0 };
	GElf_Shdr shdr;
	size_t i;
	int ret = 0;

	for (i = 1; i < f->nr_sections && !f->section_addr && !ret; i++) {
		if (!object_section(f, i, &shdr))
			continue;
		if (shdr.sh_type == SHT_RELA)
			ret = add_no_return(f, i, &shdr, &no_return);
		else if (shdr.sh_type == SHT_SYMTAB ||
			 shdr.sh_type == SHT_DYNSYM)
			ret = add_entries(f, i, &shdr, &entries);
	}
	sort_addresses(&entries);
	sort_addresses(&no_return);
	f->entries = entries.list;
	f->nr_entries = entries.nr;
	f->no_return = no_return.list;
	f->nr_no_return = no_return.nr;
	return ret ? object_no_memory(f) : 0;
}
