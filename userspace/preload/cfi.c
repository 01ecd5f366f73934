// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "cfi.h"
#include "self.h"
#include "sys.h"

/*
 * Entries of .eh_frame are a chain: each has its length, a CIE then a zero, and
 * an FDE the distance back to its CIE. The chain with most FDEs is the section,
 * if its functions are all in the text of the module.
 */

/* Length, zero, version, augmentation, and at least three numbers. */
#define SMALLEST_CIE	16

struct chain {
	size_t start, end, nr_fdes;
};

struct bytes {
	const uint8_t *data;
	size_t size;
};

static uint32_t chain_word(const struct bytes *b, size_t at)
{
	uint32_t word;

	memcpy(&word, b->data + at, sizeof(word));
	return word;
}

/* Versions 1 and 3 are all there are in .eh_frame. */
static bool looks_like_cie(const struct bytes *b, size_t at)
{
	uint8_t version;

	if (b->size - at < SMALLEST_CIE || chain_word(b, at + 4))
		return false;
	version = b->data[at + 8];
	return (version == 1 || version == 3) &&
	       (b->data[at + 9] == 'z' || !b->data[at + 9]);
}

/* Of a CIE of the same chain. */
static bool looks_like_fde(const struct bytes *b, size_t at, size_t start)
{
	uint32_t back = chain_word(b, at + 4);

	return back && back <= at + 4 - start &&
	       looks_like_cie(b, at + 4 - back);
}

/* Up to what is no entry; the one that marks the end belongs to it. */
static struct chain walk_chain(const struct bytes *b, size_t start)
{
	struct chain chain = { .start = start, .end = start };
	uint32_t length;
	bool fde;

	while (b->size - chain.end >= 8) {
		length = chain_word(b, chain.end);
		if (!length) {
			chain.end += sizeof(length);
			break;
		}
		/* In the segment, and aligned as assemblers do. */
		if (length < 8 || length % 4 || length > b->size - chain.end - 4)
			break;
		fde = looks_like_fde(b, chain.end, start);
		if (!fde && !looks_like_cie(b, chain.end))
			break;
		chain.nr_fdes += fde;
		chain.end += sizeof(length) + length;
	}
	return chain;
}

/* Each byte is in one chain, so this takes time with the size only. */
static struct chain longest_chain(const struct bytes *b)
{
	struct chain best = { .nr_fdes = 0 }, chain;
	size_t at = 0;

	while (b->size >= SMALLEST_CIE && at <= b->size - SMALLEST_CIE) {
		if (!looks_like_cie(b, at)) {
			at += 4;
			continue;
		}
		chain = walk_chain(b, at);
		if (chain.nr_fdes > best.nr_fdes)
			best = chain;
		at = chain.end > at ? chain.end : at + 4;
	}
	return best;
}

static bool is_function_in(const struct sfg_image *text, size_t nr_text,
			   const struct sfg_image *function)
{
	const struct sfg_image *end = text + nr_text;

	for (; text < end; text++)
		if (function->addr >= text->addr &&
		    function->addr - text->addr <= text->len &&
		    function->len <= text->len - (function->addr - text->addr))
			return true;
	return false;
}

/* Programs may have call frame information of others among their data. */
static bool is_for_text(const struct sfg_image *cfi,
			const struct sfg_image *text, size_t nr_text)
{
	const struct sfg_input in = { .abi = SFG_HOST_ABI, .cfi = *cfi };
	struct sfg_image *list;
	size_t nr, i = 0;

	if (sfg_list_functions(&in, &list, &nr, NULL))
		return false;
	while (i < nr && is_function_in(text, nr_text, &list[i]))
		i++;
	free(list);
	return nr && i == nr;
}

bool cfi_find(const struct dl_phdr_info *info, const struct sfg_image *text,
	      size_t nr_text, struct sfg_image *cfi)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;
	size_t most = 0;

	for (; ph < info->dlpi_phdr + info->dlpi_phnum; ph++) {
		const struct bytes b = {
			(const uint8_t *)(info->dlpi_addr + ph->p_vaddr),
			ph->p_filesz,
		};
		struct chain chain;

		if (ph->p_type != PT_LOAD ||
		    (ph->p_flags & (PF_R | PF_W)) != PF_R)
			continue;
		chain = longest_chain(&b);
		if (chain.nr_fdes <= most)
			continue;
		most = chain.nr_fdes;
		cfi->data = b.data + chain.start;
		cfi->addr = ph->p_vaddr + chain.start;
		cfi->len = chain.end - chain.start;
	}
	if (most && is_for_text(cfi, text, nr_text))
		return true;
	*cfi = (struct sfg_image) { .data = NULL };
	return false;
}

/*
 * Records begin with their length: 4 bytes, or all ones and 8 bytes (DWARF 5,
 * section 7.4). Then follow 4 bytes: 0 in a CIE, in an FDE the way back from
 * there to its CIE (LSB, "Exception Frames"). Nothing says how many bytes there
 * are: the records are followed, in a copy, as far as memory goes.
 */

#define PAGE		4096UL
#define STEP_MAX	(1UL << 20)
#define CFI_MAX		(32UL << 20)
#define ID_SIZE		4

struct copy {
	uint8_t *data;
	size_t have, room;
	uintptr_t from;
};

struct record {
	size_t id;		/* where the id is, from the record's start */
	size_t size;		/* of the record */
};

static int fail_frames(const char **reason, const char *why)
{
	*reason = why;
	return -EINVAL;
}

static bool make_copy_room(struct copy *c, size_t more)
{
	size_t room = c->room ? c->room : 2 * PAGE;
	uint8_t *bigger;

	while (room < c->have + more)
		room *= 2;
	if (room == c->room)
		return true;
	bigger = realloc(c->data, room);
	if (!bigger)
		return false;
	c->data = bigger;
	c->room = room;
	return true;
}

/* To the end of a page, then ever more: most of what is registered is short. */
static bool extend(struct copy *c)
{
	size_t step = PAGE - (c->from + c->have) % PAGE, n;

	if (c->have >= PAGE)
		step += (c->have < STEP_MAX ? c->have : STEP_MAX) & ~(PAGE - 1);
	if (!make_copy_room(c, step))
		return false;
	n = self_read(c->from + c->have, c->data + c->have, step);
	c->have += n;
	return n;
}

/* 'length' bytes at 'at' are copied. */
static bool have(struct copy *c, size_t at, size_t length)
{
	while (c->have < at || c->have - at < length)
		if (!extend(c))
			return false;
	return true;
}

/* 1: a record; 0: the terminator. */
static int read_copied_record(struct copy *c, size_t at, struct record *r,
			      const char **reason)
{
	uint32_t length;
	uint64_t wide;

	if (!have(c, at, sizeof(length)))
		return fail_frames(reason, "the frames leave mapped memory");
	memcpy(&length, c->data + at, sizeof(length));
	if (!length)
		return 0;
	r->id = sizeof(length);
	wide = length;
	if (length == UINT32_MAX) {
		if (!have(c, at, sizeof(length) + sizeof(wide)))
			return fail_frames(reason,
					   "the frames leave mapped memory");
		memcpy(&wide, c->data + at + sizeof(length), sizeof(wide));
		r->id += sizeof(wide);
	}
	/* It has an id, and a length that frames can have. */
	if (wide < ID_SIZE)
		return fail_frames(reason,
				   "a record of the frames is too short");
	if (wide > CFI_MAX || at > CFI_MAX - wide)
		return fail_frames(reason, "the frames are over 32 MiB");
	r->size = r->id + wide;
	if (!have(c, at, r->size))
		return fail_frames(reason, "the frames leave mapped memory");
	return 1;
}

static uint32_t record_id(const struct copy *c, size_t at,
			  const struct record *r)
{
	uint32_t id;

	memcpy(&id, c->data + at + r->id, sizeof(id));
	return id;
}

/* The copy of the FDE with its CIE in front, where the section had another. */
static int join_cie_and_fde(struct sfg_image *image, const struct copy *cie,
			    const struct record *cie_record,
			    const struct copy *fde,
			    const struct record *fde_record)
{
	size_t length = cie_record->size + fde_record->size;
	uint32_t back = cie_record->size + fde_record->id;
	uint8_t *data = malloc(length);

	if (!data)
		return -ENOMEM;
	memcpy(data, cie->data, cie_record->size);
	memcpy(data + cie_record->size, fde->data, fde_record->size);
	memcpy(data + back, &back, sizeof(back));
	image->data = data;
	image->len = length;
	image->addr = fde->from - cie_record->size;
	return 0;
}

static int read_single_fde(struct copy *fde, const struct record *r,
			   struct sfg_image *image, const char **reason)
{
	int32_t back = record_id(fde, 0, r);
	struct copy cie = { .from = fde->from + r->id - back };
	struct record c;
	int ret;

	ret = read_copied_record(&cie, 0, &c, reason);
	if (ret < 0)
		return ret;
	/* It points to a CIE. */
	if (!ret || record_id(&cie, 0, &c))
		return fail_frames(reason, "the frame names no CIE");
	*reason = "no memory for the frames";
	return join_cie_and_fde(image, &cie, &c, fde, r);
}

int cfi_read_frames(uintptr_t begin, struct sfg_image *image,
		    const char **reason)
{
	struct copy c = { .from = begin };
	struct record r;
	size_t at = 0;
	int ret;

	*reason = "no frames";
	ret = read_copied_record(&c, 0, &r, reason);
	if (ret <= 0)
		return ret ? ret : -ENODATA;
	if (record_id(&c, 0, &r))
		return read_single_fde(&c, &r, image, reason);
	while (ret > 0) {
		at += r.size;
		ret = read_copied_record(&c, at, &r, reason);
	}
	if (ret)
		return ret;
	image->data = c.data;
	image->len = at;
	image->addr = begin;
	return 0;
}

/*
 * ELF sections, by name. We check the header against the size of the file, but
 * cannot check that size: so we copy everything from memory that may be
 * missing.
 */

#define SECTIONS_MAX	4096
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

static bool copy_elf_bytes(const struct symfile *s, uint64_t offset, void *to,
			   size_t length)
{
	/* It is inside the file. */
	if (offset > s->size || length > s->size - offset)
		return false;
	return self_read(s->address + offset, to, length) == length;
}

static int read_elf_header(struct symfile *s)
{
	const uint8_t *ident = s->header.e_ident;
	size_t length;

	if (!copy_elf_bytes(s, 0, &s->header, sizeof(s->header)))
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
	if (!copy_elf_bytes(s, s->header.e_shoff, s->sections, length))
		return fail_symfile(s, "sections are not in the file");
	return 0;
}

/* 'name' may be at the end of the strings, and of the file. */
static bool elf_section_is_named(const struct symfile *s,
				 const elf_section *section, const char *name)
{
	const elf_section *strings = &s->sections[s->header.e_shstrndx];
	size_t length = strlen(name) + 1;
	char is[LONGEST_NAME];

	return length <= sizeof(is) &&
	       section->sh_name <= strings->sh_size &&
	       length <= strings->sh_size - section->sh_name &&
	       strings->sh_offset <= s->size &&
	       copy_elf_bytes(s, strings->sh_offset + section->sh_name, is,
			      length) &&
	       !memcmp(is, name, length);
}

static const elf_section *find_elf_section(const struct symfile *s,
					   const char *name)
{
	const elf_section *section;

	for (section = s->sections;
	     section < s->sections + s->header.e_shnum; section++)
		if (elf_section_is_named(s, section, name))
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
	if (!copy_elf_bytes(s, section->sh_offset, data, section->sh_size))
		return fail_symfile(s, "the frames are not in the file");
	cfi->cfi = (struct sfg_image) {
		.data = data, .len = section->sh_size,
		.addr = section->sh_addr,
	};
	return 0;
}

static bool is_usable_section(const struct symfile *s,
			      const elf_section *section)
{
	return section && section->sh_size && section->sh_type != SHT_NOBITS &&
	       is_relocated(s, section);
}

int cfi_read_elf(uintptr_t address, uint64_t size, struct unit_cfi *cfi,
		 const char **reason)
{
	struct symfile s = {
		.address = address, .size = size, .reason = reason,
	};
	const elf_section *section, *text;
	int ret;

	*reason = "no memory for the file";
	ret = read_elf_header(&s);
	if (ret)
		return ret;
	text = find_elf_section(&s, ".text");
	if (text) {
		cfi->flags |= SFG_INPUT_BASES;
		cfi->text_base = text->sh_addr;
	}
	section = find_elf_section(&s, ".eh_frame");
	if (is_usable_section(&s, section))
		return take_section(&s, section, cfi);
	section = find_elf_section(&s, ".debug_frame");
	if (!is_usable_section(&s, section))
		return -ENODATA;
	cfi->flags |= SFG_INPUT_DEBUG_FRAME;
	return take_section(&s, section, cfi);
}

/*
 * A file may have been replaced since ld.so has mapped it: the kernel says which
 * one is mapped (Linux 6.11). It may be truncated while it is read, so it is
 * copied as memory that may not be there.
 */

static bool is_text_of_file(const struct stat *st, uintptr_t text)
{
	struct self_mapping mapping;
	int fd = self_open_mappings(), ret;

	if (fd < 0)
		return false;
	ret = self_mapping(fd, text, &mapping);
	sys_close(fd);
	return !ret && mapping.start <= text && mapping.inode == st->st_ino &&
	       mapping.dev_major == major(st->st_dev) &&
	       mapping.dev_minor == minor(st->st_dev);
}

static bool read_sections(int fd, size_t size, struct sfg_image *cfi)
{
	long file = SYS_MMAP(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	struct unit_cfi found = { .flags = 0 };
	const char *reason;
	int ret;

	if (file < 0 && file > -4096)
		return false;
	ret = cfi_read_elf(file, size, &found, &reason);
	sys_unmap((void *)file, size);
	*cfi = found.cfi;
	return !ret && found.flags & SFG_INPUT_DEBUG_FRAME;
}

bool cfi_read_file(int file, struct sfg_image *cfi)
{
	struct stat st;

	return !SYS(SYS_newfstatat, file, "", &st, AT_EMPTY_PATH) &&
	       read_sections(file, st.st_size, cfi);
}

bool cfi_read_module(const struct dl_phdr_info *info, uintptr_t text,
		     struct sfg_image *cfi)
{
	const char *name = *info->dlpi_name ? info->dlpi_name :
			   "/proc/self/exe";
	/* O_NONBLOCK: by now it may be a FIFO. */
	int fd = sys_open(AT_FDCWD, name, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;
	bool found;

	if (fd < 0)
		return false;
	found = !SYS(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) &&
		is_text_of_file(&st, text) && cfi_read_file(fd, cfi);
	sys_close(fd);
	return found;
}
