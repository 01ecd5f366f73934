// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Finds text, call frame information and .sframe in a file that is open. */
#include <stdlib.h>

#include "object.h"

/*
 * An index of the name table that e_shstrndx has no room for is in sh_link of
 * the first section header; libelf looks there.
 */
static const char *section_name(struct object *f, const GElf_Shdr *shdr)
{
	size_t strings;

	if (elf_getshdrstrndx(f->elf, &strings))
		return "";
	return object_string(f, strings, shdr->sh_name);
}

/*
 * Index of the section with this name and content, or 0. By name, since types
 * differ: .eh_frame is PROGBITS or the psABI's X86_64_UNWIND, .sframe was
 * PROGBITS before binutils 2.45. Files of debug information alone have all
 * headers, with NOBITS for what was left in the program. Section 0 is no
 * section.
 */
static size_t find_section(struct object *f, const char *name,
			   GElf_Shdr *shdr)
{
	size_t i;

	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, shdr) &&
		    shdr->sh_type != SHT_NOBITS &&
		    !strcmp(section_name(f, shdr), name))
			return i;
	return 0;
}

static int cannot_use(const struct object *f, const GElf_Shdr *shdr,
		      const char *name)
{
	if (shdr->sh_flags & SHF_COMPRESSED)
		return object_error(f, shdr->sh_offset, -ENOTSUP,
				    "%s is compressed", name);
	if (!object_in_file(f, shdr->sh_offset, shdr->sh_size))
		return object_error(f, shdr->sh_offset, -EINVAL,
				 "%s reaches past the end of the file", name);
	return 0;
}

/*
 * Object files: sections get addresses as if they were linked, code first,
 * far enough apart that nothing is taken for padding between functions.
 */
#define SECTION_DISTANCE	256

/*
 * An alignment has to be a power of two. In a hostile file, huge ones would
 * exhaust the addresses after a few sections.
 */
static uint64_t place_section(const GElf_Shdr *shdr, uint64_t *end)
{
	uint64_t align = shdr->sh_addralign, addr;

	if (align < 2 || align & (align - 1) || align > 1 << 20)
		align = 1;
	addr = (*end + align - 1) & -align;
	*end = addr + shdr->sh_size + SECTION_DISTANCE;
	return addr;
}

static void place_sections(struct object *f, bool code, uint64_t *end)
{
	GElf_Shdr shdr;
	size_t i;

	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, &shdr) && shdr.sh_flags & SHF_ALLOC &&
		    !(shdr.sh_flags & SHF_EXECINSTR) == !code &&
		    object_in_file(f, shdr.sh_offset, shdr.sh_size))
			f->section_addr[i] = place_section(&shdr, end);
}

/* An address in section 0 would be one in the first that is placed. */
static void place_all_sections(struct object *f)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < f->nr_sections; i++)
		f->section_addr[i] = NOWHERE;
	place_sections(f, true, &end);
	place_sections(f, false, &end);
}

/*
 * What overlaps would be converted and relocated as often as it is named.
 * Sections that are apart have no more bytes together than the file.
 */
static int check_overlap(struct object *f)
{
	uint64_t left = f->len;
	GElf_Shdr shdr;
	size_t i;

	for (i = 1; i < f->nr_sections; i++) {
		if (!object_section(f, i, &shdr) ||
		    shdr.sh_type == SHT_NOBITS ||
		    !object_in_file(f, shdr.sh_offset, shdr.sh_size))
			continue;
		if (shdr.sh_size > left)
			return object_error(f, shdr.sh_offset, -EINVAL,
					    "sections overlap");
		left -= shdr.sh_size;
	}
	return 0;
}

static int place_object(struct object *f)
{
	int ret;

	if (f->section_addr || f->ehdr.e_type != ET_REL)
		return 0;
	ret = check_overlap(f);
	if (ret)
		return ret;
	f->section_addr = calloc(f->nr_sections + 1, sizeof(uint64_t));
	if (!f->section_addr)
		return object_no_memory(f);
	place_all_sections(f);
	return 0;
}

static bool is_code(const GElf_Shdr *shdr)
{
	return shdr->sh_flags & SHF_ALLOC && shdr->sh_flags & SHF_EXECINSTR &&
	       shdr->sh_type != SHT_NOBITS;
}

/* Offsets in .debug_frame, which is not loaded, count from its own start. */
static uint64_t address_of(const struct object *f, size_t index,
			   const GElf_Shdr *shdr)
{
	if (!f->section_addr)
		return shdr->sh_addr;
	return f->section_addr[index] == NOWHERE ? 0 : f->section_addr[index];
}

static int add_text(struct object *f, uint64_t addr, uint64_t offset,
		    uint64_t len)
{
	uint8_t *bytes;
	int ret;

	if (!len || !object_in_file(f, offset, len))
		return 0;
	/* what overlaps would be read as often as it is named */
	if (len > f->text_left)
		return object_error(f, offset, -EINVAL,
				    "executable segments overlap");
	f->text_left -= len;
	ret = object_load(f, offset, len, &bytes);
	if (!ret)
		f->text[f->nr_text++] = (struct sfg_image) {
			.data = bytes, .len = len, .addr = addr,
		};
	return ret;
}

/*
 * In the order of addresses: place_sections() went through the sections in the
 * same order.
 */
static int read_object_text(struct object *f)
{
	GElf_Shdr shdr;
	size_t i;
	int ret = 0;

	f->text = calloc(f->nr_sections + 1, sizeof(*f->text));
	if (!f->text)
		return object_no_memory(f);
	for (i = 1; i < f->nr_sections && !ret; i++)
		if (object_section(f, i, &shdr) && is_code(&shdr))
			ret = add_text(f, f->section_addr[i], shdr.sh_offset,
				       shdr.sh_size);
	return ret;
}

uint64_t object_file_offset(struct object *f, uint64_t addr)
{
	GElf_Shdr shdr;
	size_t i;

	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, &shdr) && is_code(&shdr) &&
		    f->section_addr[i] != NOWHERE &&
		    addr - f->section_addr[i] < shdr.sh_size)
			return shdr.sh_offset + (addr - f->section_addr[i]);
	return 0;
}

static int compare_images(const void *x, const void *y)
{
	const struct sfg_image *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

/*
 * ELF wants loadable segments in the order of their addresses, which nobody has
 * checked. Of p_memsz what is above p_filesz has no bytes in the file.
 */
static int read_segment_text(struct object *f)
{
	GElf_Phdr phdr;
	size_t i, nr;
	int ret = 0;

	if (elf_getphdrnum(f->elf, &nr))
		return object_error(f, f->ehdr.e_phoff, -EINVAL, "%s",
				    elf_errmsg(-1));
	f->text = calloc(nr + 1, sizeof(*f->text));
	if (!f->text)
		return object_no_memory(f);
	for (i = 0; i < nr && !ret; i++)
		if (gelf_getphdr(f->elf, i, &phdr) &&
		    phdr.p_type == PT_LOAD && phdr.p_flags & PF_X)
			ret = add_text(f, phdr.p_vaddr, phdr.p_offset,
				       phdr.p_filesz);
	qsort(f->text, f->nr_text, sizeof(*f->text), compare_images);
	return ret;
}

/* The text that holds the address; NULL: none. */
static const struct sfg_image *find_text(const struct object *f, uint64_t addr)
{
	size_t lo = 0, hi = f->nr_text, mid;
	const struct sfg_image *text;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->text[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	text = lo ? &f->text[lo - 1] : NULL;
	return text && addr - text->addr < text->len ? text : NULL;
}

/* What of the section is in the text and behind what was added before. */
static void add_code(struct object *f, uint64_t addr, uint64_t end,
		     uint64_t behind)
{
	const struct sfg_image *text;

	if (addr < behind)
		addr = behind;
	text = find_text(f, addr);
	if (!text || end <= addr)
		return;
	if (end - text->addr > text->len)
		end = text->addr + text->len;
	f->code[f->nr_code++] = (struct sfg_image) {
		.data = (const uint8_t *)text->data + (addr - text->addr),
		.len = end - addr, .addr = addr,
	};
}

static void clip_code(struct object *f)
{
	size_t i, nr = f->nr_code;
	uint64_t behind = 0;

	qsort(f->code, nr, sizeof(*f->code), compare_images);
	f->nr_code = 0;
	for (i = 0; i < nr; i++) {
		add_code(f, f->code[i].addr, f->code[i].addr + f->code[i].len,
			 behind);
		if (f->nr_code)
			behind = f->code[f->nr_code - 1].addr +
				 f->code[f->nr_code - 1].len;
	}
}

/* Segments may hold headers and data, too: sections know better. */
static int read_code(struct object *f)
{
	GElf_Shdr shdr;
	size_t i;

	f->code = calloc(f->nr_sections + 1, sizeof(*f->code));
	if (!f->code)
		return object_no_memory(f);
	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, &shdr) && is_code(&shdr))
			f->code[f->nr_code++] = (struct sfg_image) {
				.addr = shdr.sh_addr, .len = shdr.sh_size,
			};
	clip_code(f);
	return 0;
}

static int read_text(struct object *f)
{
	int ret = place_object(f);

	if (ret)
		return ret;
	f->text_left = f->len;
	ret = f->ehdr.e_type == ET_REL ? read_object_text(f) :
					 read_segment_text(f);
	if (!ret && !f->nr_text)
		ret = object_error(f, 0, -EINVAL, "no executable code");
	if (!ret && f->ehdr.e_type != ET_REL)
		ret = read_code(f);
	return ret;
}

static void place_part(struct object_part *part, uint64_t offset,
		       uint64_t len, uint64_t addr)
{
	part->file_offset = offset;
	part->image = (struct sfg_image) {
		.data = part->bytes, .len = len, .addr = addr,
	};
}

static int load_part(struct object *f, struct object_part *part,
		     uint64_t offset, uint64_t len, uint64_t addr)
{
	int ret = object_load(f, offset, len, &part->bytes);

	if (!ret)
		place_part(part, offset, len, addr);
	return ret;
}

/*
 * 0 with image.data NULL: there is no such section. .eh_frame and .sframe of
 * object files name code by relocations; in linked files these have been
 * applied.
 */
static int read_part(struct object *f, const char *name,
		     struct object_part *part)
{
	GElf_Shdr shdr;
	size_t index = find_section(f, name, &shdr);
	int ret;

	if (!index)
		return 0;
	ret = cannot_use(f, &shdr, name);
	if (!ret)
		ret = load_part(f, part, shdr.sh_offset, shdr.sh_size,
				address_of(f, index, &shdr));
	if (!ret && f->ehdr.e_type == ET_REL)
		ret = object_relocate(f, part, index);
	return ret;
}

/* Files without section headers: PT_GNU_EH_FRAME leads to .eh_frame. */

/*
 * Differences of unsigned numbers: an address below p_vaddr is far above
 * p_filesz then.
 */
static bool find_segment(struct object *f, unsigned int type, uint64_t addr,
			 GElf_Phdr *phdr)
{
	size_t i, nr;

	if (elf_getphdrnum(f->elf, &nr))
		return false;
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(f->elf, i, phdr) && phdr->p_type == type &&
		    addr - phdr->p_vaddr < phdr->p_filesz &&
		    object_in_file(f, phdr->p_offset, phdr->p_filesz))
			return true;
	return false;
}

static bool first_segment(struct object *f, unsigned int type,
			  GElf_Phdr *phdr)
{
	size_t i, nr;

	if (elf_getphdrnum(f->elf, &nr))
		return false;
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(f->elf, i, phdr) && phdr->p_type == type)
			return true;
	return false;
}

static uint32_t get_u32(const struct object *f, const uint8_t *p)
{
	uint32_t v = 0;
	Elf_Data from = {
		.d_buf = (void *)p, .d_size = sizeof(v),
		.d_type = ELF_T_WORD, .d_version = EV_CURRENT,
	};
	Elf_Data to = {
		.d_buf = &v, .d_size = sizeof(v), .d_version = EV_CURRENT,
	};

	gelf_xlatetom(f->elf, &to, &from, f->ehdr.e_ident[EI_DATA]);
	return v;
}

/* DW_EH_PE_pcrel | DW_EH_PE_sdata4: what all linkers write. */
#define PCREL_SDATA4	0x1b

/*
 * .eh_frame_hdr: version 1, three encodings, then the pointer. LSB: the
 * encodings are of the pointer to .eh_frame, of the number of entries in the
 * search table, and of the entries. The pointer is relative to itself, 4 bytes
 * behind the start.
 */
static bool read_eh_frame_ptr(struct object *f, const GElf_Phdr *phdr,
			      uint64_t *addr)
{
	uint8_t p[8];

	if (phdr->p_filesz < 8 || file_read(f->fd, phdr->p_offset, p, 8) ||
	    p[0] != 1 || p[1] != PCREL_SDATA4)
		return false;
	*addr = phdr->p_vaddr + 4 + (int32_t)get_u32(f, p + 4);
	return true;
}

/*
 * No header tells where .eh_frame ends: it is read to the end of its segment,
 * and ends for the parser at the zero terminator.
 */
static int read_cfi_by_segment(struct object *f)
{
	GElf_Phdr hdr, load;
	uint64_t addr, skip;

	if (!first_segment(f, PT_GNU_EH_FRAME, &hdr))
		return 0;
	if (!object_in_file(f, hdr.p_offset, hdr.p_filesz) ||
	    !read_eh_frame_ptr(f, &hdr, &addr) ||
	    !find_segment(f, PT_LOAD, addr, &load))
		return object_error(f, hdr.p_offset, -EINVAL,
				    ".eh_frame_hdr is damaged");
	skip = addr - load.p_vaddr;
	return load_part(f, &f->cfi, load.p_offset + skip, load.p_filesz - skip,
			 addr);
}

/*
 * In place of .eh_frame, for code that was built without unwind tables, but
 * with debug information.
 */
static int read_debug_frame(struct object *f)
{
	f->cfi_flags = SFG_INPUT_DEBUG_FRAME;
	return read_part(f, ".debug_frame", &f->cfi);
}

static void read_hdr_len(struct object *f)
{
	GElf_Phdr phdr;

	if (f->ehdr.e_type != ET_REL &&
	    first_segment(f, PT_GNU_EH_FRAME, &phdr))
		f->eh_frame_hdr_len = phdr.p_filesz;
}

/* Whatever libelf could not read then, it takes for absent. */
static int check_length(const struct object *f)
{
	char last;

	return object_read(f, f->len - 1, &last, 1);
}

int object_read_cfi(struct object *f)
{
	int ret = read_text(f);

	if (!ret)
		ret = read_part(f, ".eh_frame", &f->cfi);
	if (!ret && !f->cfi.image.data && f->ehdr.e_type != ET_REL)
		ret = read_cfi_by_segment(f);
	if (!ret && !f->cfi.image.data)
		ret = read_debug_frame(f);
	if (!ret && !f->cfi.image.data)
		ret = object_error(f, 0, -EINVAL, "no call frame information");
	read_hdr_len(f);
	return ret ? ret : check_length(f);
}

static void load_debug_frame(struct object *f, const GElf_Shdr *shdr)
{
	struct object_part *part = &f->debug_frame;
	int ret = object_try_load(f, shdr->sh_offset, shdr->sh_size,
				  &part->bytes);

	if (ret)
		f->debug_frame_unusable = object_unread(ret);
	else
		place_part(part, shdr->sh_offset, shdr->sh_size,
			   shdr->sh_addr);
}

/* .zdebug_* is how sections were compressed before ELF had SHF_COMPRESSED. */
void object_read_debug_frame(struct object *f)
{
	GElf_Shdr shdr;

	/* in object files a function that was discarded looks like the first */
	if (f->ehdr.e_type == ET_REL || f->cfi_flags & SFG_INPUT_DEBUG_FRAME)
		return;
	if (find_section(f, ".zdebug_frame", &shdr))
		f->debug_frame_unusable = "it is compressed";
	if (!find_section(f, ".debug_frame", &shdr))
		return;
	if (shdr.sh_flags & SHF_COMPRESSED)
		f->debug_frame_unusable = "it is compressed";
	else if (!object_in_file(f, shdr.sh_offset, shdr.sh_size))
		f->debug_frame_unusable = "it reaches past the end of the file";
	else if (!f->nr_code)
		f->debug_frame_unusable = "no section is executable";
	else
		load_debug_frame(f, &shdr);
}

int object_read_sframe(struct object *f)
{
	int ret = place_object(f);

	if (!ret)
		ret = read_part(f, ".sframe", &f->sframe);
	if (!ret && !f->sframe.image.data)
		ret = object_error(f, 0, -EINVAL, "no .sframe section");
	return ret ? ret : check_length(f);
}
