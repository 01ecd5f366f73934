// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The relocations of object files. */
#include <stdlib.h>

#include "../lib/core.h"
#include "object.h"

static struct sfg_reloc reloc_type(const struct object *f, unsigned int type)
{
	const struct sfg_reloc *r = sfg_any_arch(f->abi)->relocs;

	while (r->kind != RELOC_UNKNOWN && r->type != type)
		r++;
	return *r;
}

/*
 * In object files st_value counts from the start of the section. gas mostly
 * names a section and puts the place into the addend.
 */
static uint64_t symbol_value(const struct object *f, const GElf_Sym *sym)
{
	if (sym->st_shndx == SHN_ABS)
		return sym->st_value;
	/* undefined: a personality routine, whose address says nothing here */
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= f->nr_sections)
		return 0;
	return f->section_addr[sym->st_shndx] + sym->st_value;
}

static uint64_t fetch(struct object *f, const uint8_t *p, unsigned int size)
{
	bool big = object_is_big_endian(f);
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		v |= (uint64_t)p[i] << 8 * (big ? size - 1 - i : i);
	return v;
}

static void store(struct object *f, uint8_t *p, uint64_t v,
		  unsigned int size)
{
	bool big = object_is_big_endian(f);
	unsigned int i;

	for (i = 0; i < size; i++)
		p[i] = v >> 8 * (big ? size - 1 - i : i);
}

struct relocating {
	struct object *f;
	struct object_part *part;
	Elf_Data *symbols;
	uint64_t file_offset;	/* of the relocation section */
};

/* @value: S + A; @at: P */
static uint64_t relocated(unsigned int kind, uint64_t old, uint64_t value,
			  uint64_t at)
{
	switch (kind) {
	case RELOC_PC:
		return value - at;
	case RELOC_ADD:
		return old + value;
	case RELOC_SUB:
		return old - value;
	case RELOC_ABS6:
		return (old & 0xc0) | (value & 0x3f);
	case RELOC_SUB6:
		return (old & 0xc0) | ((old - value) & 0x3f);
	}
	return value;
}

static int relocate_one(struct relocating *r, const GElf_Rela *rela, size_t i)
{
	struct sfg_reloc type = reloc_type(r->f, GELF_R_TYPE(rela->r_info));
	struct sfg_image *image = &r->part->image;
	uint64_t at = r->file_offset + i * sizeof(Elf64_Rela), v;
	uint8_t *place;
	GElf_Sym sym;

	if (type.kind == RELOC_NONE)
		return 0;
	if (type.kind == RELOC_UNKNOWN)
		return object_error(r->f, at, -ENOTSUP, "relocation type %llu",
				 (unsigned long long)GELF_R_TYPE(rela->r_info));
	/* the place has to be inside the section, the symbol in its table */
	if (rela->r_offset > image->len ||
	    type.size > image->len - rela->r_offset)
		return object_error(r->f, at, -EINVAL,
				    "relocation outside of its section");
	if (!gelf_getsym(r->symbols, GELF_R_SYM(rela->r_info), &sym))
		return object_error(r->f, at, -EINVAL,
				    "relocation names no symbol");
	place = r->part->bytes + rela->r_offset;
	v = relocated(type.kind, fetch(r->f, place, type.size),
		      symbol_value(r->f, &sym) + rela->r_addend,
		      image->addr + rela->r_offset);
	store(r->f, place, v, type.size);
	return 0;
}

/*
 * sh_link of a relocation section is its symbol table, sh_info the section that
 * it changes.
 */
static int relocate_from(struct object *f, struct object_part *part,
			 size_t index, const GElf_Shdr *shdr)
{
	struct relocating r = {
		.f = f, .part = part, .file_offset = shdr->sh_offset,
		.symbols = object_section_data(f, shdr->sh_link, SHT_SYMTAB),
	};
	Elf_Data *data = object_section_data(f, index, SHT_RELA);
	GElf_Rela rela;
	size_t i;
	int ret = 0;

	if (!data || !r.symbols)
		return object_error(f, shdr->sh_offset, -EINVAL,
				    "relocations are damaged");
	for (i = 0; i < data->d_size / sizeof(Elf64_Rela) && !ret; i++)
		if (gelf_getrela(data, i, &rela))
			ret = relocate_one(&r, &rela, i);
	return ret;
}

int object_relocate(struct object *f, struct object_part *part, size_t target)
{
	GElf_Shdr shdr;
	size_t i;
	int ret = 0;

	for (i = 1; i < f->nr_sections && !ret; i++)
		if (object_section(f, i, &shdr) && shdr.sh_type == SHT_RELA &&
		    shdr.sh_info == target)
			ret = relocate_from(f, part, i, &shdr);
	return ret;
}

static bool touches(Elf_Data *data, uint64_t base, uint64_t addr,
		    uint64_t size)
{
	GElf_Rela rela;
	size_t i;

	/* no relocation is wider than 8 bytes */
	for (i = 0; i < data->d_size / sizeof(Elf64_Rela); i++)
		if (gelf_getrela(data, i, &rela) &&
		    base + rela.r_offset < addr + size &&
		    base + rela.r_offset + 8 > addr)
			return true;
	return false;
}

bool object_is_relocated(struct object *f, uint64_t addr, uint64_t size)
{
	GElf_Shdr shdr, target;
	Elf_Data *data;
	size_t i;

	for (i = 1; i < f->nr_sections; i++) {
		if (!object_section(f, i, &shdr) || shdr.sh_type != SHT_RELA ||
		    !object_section(f, shdr.sh_info, &target) ||
		    !(target.sh_flags & SHF_EXECINSTR))
			continue;
		data = object_section_data(f, i, SHT_RELA);
		if (!data || touches(data, f->section_addr[shdr.sh_info],
				     addr, size))
			return true;
	}
	return false;
}
