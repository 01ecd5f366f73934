// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Finds the table of Go's functions. It is a section of its own, but in
 * position-independent programs that another linker has made: there it is in
 * read-only data that is relocated. In files without section headers, all constant
 * data is searched.
 */
#include <stdlib.h>

#include "object.h"

/* The first bytes of a writable segment, which become read-only. */
static uint64_t relro_len(struct object *f, const GElf_Phdr *load)
{
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_getphdrnum(f->elf, &nr))
		return 0;
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(f->elf, i, &phdr) &&
		    phdr.p_type == PT_GNU_RELRO &&
		    phdr.p_vaddr >= load->p_vaddr &&
		    phdr.p_vaddr - load->p_vaddr < load->p_filesz)
			return phdr.p_vaddr - load->p_vaddr + phdr.p_filesz;
	return 0;
}

/* How many bytes of a segment are constant. */
static uint64_t constant_len(struct object *f, const GElf_Phdr *load)
{
	uint64_t len = load->p_filesz;

	if (load->p_type != PT_LOAD || load->p_flags & PF_X ||
	    !object_in_file(f, load->p_offset, len))
		return 0;
	if (!(load->p_flags & PF_W))
		return len;
	return relro_len(f, load) < len ? relro_len(f, load) : len;
}

static bool is_data(struct object *f, const GElf_Phdr *load)
{
	return load->p_type == PT_LOAD && load->p_flags & PF_W &&
	       object_in_file(f, load->p_offset, load->p_filesz);
}

static int load_image(struct object *f, uint64_t offset, uint64_t len,
		      uint64_t addr, struct sfg_image *image)
{
	uint8_t *bytes;
	int ret = object_try_load(f, offset, len, &bytes);

	if (ret)
		return ret;
	f->go_bytes[f->nr_go_bytes++] = bytes;
	*image = (struct sfg_image) { bytes, len, addr };
	return 0;
}

/* Writable data tells where the text is, if the table does not. */
static int open_with_data(struct object *f, struct sfg_go_input *in,
			  __typeof__(sfg_open_go) *open, struct sfg_error *err)
{
	struct sfg_image data;
	GElf_Phdr phdr;
	size_t i, nr;
	int ret = open(&f->go, in, err);

	if (elf_getphdrnum(f->elf, &nr))
		nr = 0;
	in->data = &data;
	in->nr_data = 1;
	for (i = 0; i < nr && ret == -ENOENT && f->nr_go_bytes < MOST_GO_BYTES;
	     i++) {
		if (!gelf_getphdr(f->elf, i, &phdr) || !is_data(f, &phdr))
			continue;
		if (!load_image(f, phdr.p_offset, phdr.p_filesz, phdr.p_vaddr,
				&data))
			ret = open(&f->go, in, err);
	}
	in->data = NULL;
	in->nr_data = 0;
	return ret;
}

static int use(struct object *f, uint64_t offset, uint64_t len, uint64_t addr,
	       __typeof__(sfg_open_go) *open)
{
	struct sfg_go_input in = {
		.abi = f->abi, .text = f->text, .nr_text = f->nr_text,
	};
	struct sfg_error err;
	int ret = load_image(f, offset, len, addr, &in.table);

	if (ret) {
		f->go_unusable = object_unread(ret);
		return ret;
	}
	ret = open_with_data(f, &in, open, &err);
	f->has_go = !ret;
	f->go_unusable = ret ? err.reason : NULL;
	return ret;
}

static bool is_of_go(const char *name)
{
	return !strncmp(name, ".go.", 4) || !strncmp(name, ".note.go.", 9);
}

static bool has_go_section(struct object *f)
{
	GElf_Shdr shdr;
	size_t i;

	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, &shdr) &&
		    is_of_go(object_section_name(f, &shdr)))
			return true;
	return false;
}

static void search_segments(struct object *f)
{
	const char *unusable = NULL;
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_getphdrnum(f->elf, &nr))
		return;
	for (i = 0; i < nr && !f->has_go && f->nr_go_bytes < MOST_GO_BYTES;
	     i++) {
		if (!gelf_getphdr(f->elf, i, &phdr) ||
		    !constant_len(f, &phdr))
			continue;
		if (use(f, phdr.p_offset, constant_len(f, &phdr),
			phdr.p_vaddr, sfg_find_go) != -ENOENT)
			unusable = f->go_unusable;
	}
	f->go_unusable = unusable;
}

int object_read_go(struct object *f)
{
	static const char *const names[] = {
		".gopclntab", ".data.rel.ro.gopclntab",
	};
	GElf_Shdr shdr;
	size_t i;
	int ret = object_read_text(f);

	if (ret || f->ehdr.e_type == ET_REL || f->is_debug_file)
		return ret;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (object_find_section(f, names[i], &shdr) &&
		    object_in_file(f, shdr.sh_offset, shdr.sh_size)) {
			use(f, shdr.sh_offset, shdr.sh_size, shdr.sh_addr,
			    sfg_open_go);
			return 0;
		}
	if (!f->nr_sections || has_go_section(f))
		search_segments(f);
	return 0;
}
