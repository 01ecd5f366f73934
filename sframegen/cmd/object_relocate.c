// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Relocations of object files. */
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

/* LLVM's, proposed for the ELF specification. */
#define SHT_CREL	0x40000014

static bool has_relocations(const GElf_Shdr *shdr)
{
	return shdr->sh_type == SHT_RELA || shdr->sh_type == SHT_REL ||
	       shdr->sh_type == SHT_CREL;
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

/* The result of one relocation. */
struct place {
	size_t offset;
	bool known;		/* its symbol's section has an address */
	bool names;		/* false: it only subtracts an address */
};

struct relocating {
	struct object *f;
	struct object_part *part;
	size_t target;		/* section of the part */
	size_t start;		/* its offset in the part */
	struct object_symtab table;
	uint64_t file_offset;	/* of the relocation section */
	struct place *places;
	size_t nr, max;
};

/*
 * In object files st_value counts from the start of the section. gas mostly
 * names a section and puts the offset into the addend. If the symbol has no
 * address here, as personality routines, the number means nothing.
 */
static uint64_t symbol_value(const struct relocating *r, const GElf_Sym *sym,
			     size_t section, bool *known)
{
	uint64_t addr = section ? r->f->section_addr[section] : NOWHERE;

	*known = addr != NOWHERE;
	if (*known)
		return addr + sym->st_value;
	if (section == r->target)
		return r->part->image.addr + r->start + sym->st_value;
	return sym->st_shndx == SHN_ABS ? sym->st_value : 0;
}

static int note_place(struct relocating *r, const struct place *place)
{
	if (!grow_array(&r->places, &r->max, r->nr, sizeof(*r->places)))
		return object_no_memory(r->f);
	r->places[r->nr++] = *place;
	return 0;
}

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
	size_t len = image->len - r->start;	/* the section is the last */
	struct place note = {
		.offset = r->start + rela->r_offset, .names = type.kind != RELOC_SUB,
	};
	uint8_t *place;
	size_t section;
	GElf_Sym sym;

	if (type.kind == RELOC_NONE)
		return 0;
	if (type.kind == RELOC_UNKNOWN)
		return object_error(r->f, at, -ENOTSUP, "relocation type %llu",
				 (unsigned long long)GELF_R_TYPE(rela->r_info));
	/* the place must be inside the section, the symbol in its table */
	if (rela->r_offset > len || type.size > len - rela->r_offset)
		return object_error(r->f, at, -EINVAL,
				    "relocation outside of its section");
	if (!object_get_symbol(r->f, &r->table, GELF_R_SYM(rela->r_info),
			       &sym, &section))
		return object_error(r->f, at, -EINVAL,
				    "relocation names no symbol");
	place = r->part->bytes + note.offset;
	v = relocated(type.kind, fetch(r->f, place, type.size),
		      symbol_value(r, &sym, section, &note.known) +
		      rela->r_addend, image->addr + note.offset);
	store(r->f, place, v, type.size);
	return note_place(r, &note);
}

/*
 * A relocation section's symbol table is in sh_link, the section it changes in
 * sh_info.
 */
static int relocate_from(struct relocating *r, size_t index,
			 const GElf_Shdr *shdr)
{
	struct object *f = r->f;
	Elf_Data *data = object_section_data(f, index, SHT_RELA);
	GElf_Rela rela;
	size_t i;
	int ret = 0;

	r->file_offset = shdr->sh_offset;
	if (shdr->sh_type != SHT_RELA)
		return object_error(f, shdr->sh_offset, -ENOTSUP,
				    "relocations are not in the form SHT_RELA:"
				    " assemble without compact ones (CREL)");
	if (!data || !object_read_symtab(f, shdr->sh_link, &r->table))
		return object_error(f, shdr->sh_offset, -EINVAL,
				    "relocations are damaged");
	for (i = 0; i < data->d_size / sizeof(Elf64_Rela) && !ret; i++)
		if (gelf_getrela(data, i, &rela))
			ret = relocate_one(r, &rela, i);
	return ret;
}

static int compare_places(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/*
 * An address may have two relocations, one that adds and one that subtracts. It
 * is known if all symbols are.
 */
static int list_known(struct relocating *r)
{
	struct object_part *part = r->part;
	size_t i = 0, first, *bigger;
	bool known, names;

	bigger = realloc(part->relocated, (part->nr_relocated + r->nr + 1) *
					  sizeof(*bigger));
	if (!bigger)
		return object_no_memory(r->f);
	part->relocated = bigger;
	if (r->nr)
		qsort(r->places, r->nr, sizeof(*r->places), compare_places);
	while (i < r->nr) {
		known = true;
		names = false;
		for (first = i; i < r->nr && r->places[i].offset ==
					     r->places[first].offset; i++) {
			known &= r->places[i].known;
			names |= r->places[i].names;
		}
		if (known && names)
			part->relocated[part->nr_relocated++] =
				r->places[first].offset;
	}
	return 0;
}

int object_relocate(struct object *f, struct object_part *part, size_t target,
		    size_t start)
{
	struct relocating r = {
		.f = f, .part = part, .target = target, .start = start,
	};
	GElf_Shdr shdr;
	size_t i;
	int ret = 0;

	for (i = 1; i < f->nr_sections && !ret; i++)
		if (object_section(f, i, &shdr) && has_relocations(&shdr) &&
		    shdr.sh_info == target)
			ret = relocate_from(&r, i, &shdr);
	if (!ret)
		ret = list_known(&r);
	free(r.places);
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
		if (!object_section(f, i, &shdr) || !has_relocations(&shdr) ||
		    !object_section(f, shdr.sh_info, &target) ||
		    !(target.sh_flags & SHF_EXECINSTR) ||
		    f->section_addr[shdr.sh_info] == NOWHERE)
			continue;
		data = object_section_data(f, i, SHT_RELA);
		if (!data || touches(data, f->section_addr[shdr.sh_info],
				     addr, size))
			return true;
	}
	return false;
}

bool object_knows_fde(const struct object_part *sframe,
		      const struct sfg_section *section, uint32_t index)
{
	size_t field = section->fdes_off + index * sizeof(struct sframe_fde);

	return !sframe->relocated ||
	       sfg_has_offset(sframe->relocated, sframe->nr_relocated, field);
}
