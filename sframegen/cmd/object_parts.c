// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Finds text, CFI and .sframe in an open file. */
#include <stdlib.h>

#include "object.h"

/*
 * libelf finds a name table's index that does not fit e_shstrndx in sh_link of
 * the first section header.
 */
const char *object_section_name(struct object *f, const GElf_Shdr *shdr)
{
	size_t strings;

	if (elf_getshdrstrndx(f->elf, &strings))
		return "";
	return object_string(f, strings, shdr->sh_name);
}

/*
 * Returns the index of the next section with this name and content, or 0. By
 * name, since types differ: .eh_frame is PROGBITS or the psABI's X86_64_UNWIND,
 * .sframe was PROGBITS before binutils 2.45. Debug files have all headers, with
 * NOBITS for sections left in the program. Section 0 is no section.
 */
static size_t next_section(struct object *f, const char *name, size_t after,
			   GElf_Shdr *shdr)
{
	size_t i;

	for (i = after + 1; i < f->nr_sections; i++)
		if (object_section(f, i, shdr) &&
		    shdr->sh_type != SHT_NOBITS &&
		    !strcmp(object_section_name(f, shdr), name))
			return i;
	return 0;
}

size_t object_find_section(struct object *f, const char *name,
			   GElf_Shdr *shdr)
{
	return next_section(f, name, 0, shdr);
}

/* .zdebug_*: compressed sections from before SHF_COMPRESSED. */
static size_t find_debug_frame(struct object *f, GElf_Shdr *shdr)
{
	size_t index = object_find_section(f, ".debug_frame", shdr);

	return index ? index : object_find_section(f, ".zdebug_frame", shdr);
}

/*
 * Sections of object files get addresses as if linked, code first, too far
 * apart for padding between functions.
 */
#define SECTION_DISTANCE	256

/*
 * Alignments must be powers of two. Huge ones in a hostile file would exhaust
 * the addresses after a few sections.
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

/* Start with NOWHERE: 0 would be an address in the first section. */
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
 * Overlapping sections would be converted and relocated once each. Disjoint
 * ones together have no more bytes than the file.
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

static bool is_code_section(const GElf_Shdr *shdr)
{
	return shdr->sh_flags & SHF_ALLOC && shdr->sh_flags & SHF_EXECINSTR &&
	       shdr->sh_type != SHT_NOBITS;
}

/* .debug_frame is not loaded: its offsets count from its own start. */
static uint64_t address_of(const struct object *f, size_t index,
			   const GElf_Shdr *shdr)
{
	if (!f->section_addr)
		return shdr->sh_addr;
	return f->section_addr[index] == NOWHERE ? 0 : f->section_addr[index];
}

/* Bytes are read on demand. */
static int add_text(struct object *f, uint64_t addr, uint64_t offset,
		    uint64_t len)
{
	if (!len || !object_in_file(f, offset, len))
		return 0;
	/* overlapping segments would each be read */
	if (len > f->text_left)
		return object_error(f, offset, -EINVAL,
				    "executable segments overlap");
	f->text_left -= len;
	if (len > f->left)
		return object_error(f, offset, -EFBIG, "%s",
				    object_unread(-EFBIG));
	f->left -= len;
	f->segments[f->nr_text++] = (struct object_code) {
		.addr = addr, .len = len, .file_offset = offset,
	};
	return 0;
}

static int alloc_text(struct object *f, size_t nr)
{
	f->segments = calloc(nr + 1, sizeof(*f->segments));
	f->text = calloc(nr + 1, sizeof(*f->text));
	f->window = malloc(sizeof(*f->window));
	if (!f->segments || !f->text || !f->window)
		return object_no_memory(f);
	f->window->len = 0;
	return 0;
}

static int compare_segments(const void *x, const void *y)
{
	const struct object_code *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

static void sort_text(struct object *f)
{
	size_t i;

	qsort(f->segments, f->nr_text, sizeof(*f->segments), compare_segments);
	for (i = 0; i < f->nr_text; i++)
		f->text[i] = (struct sfg_image) {
			.addr = f->segments[i].addr, .len = f->segments[i].len,
		};
}

static int read_object_text(struct object *f)
{
	GElf_Shdr shdr;
	size_t i;
	int ret = alloc_text(f, f->nr_sections);

	for (i = 1; i < f->nr_sections && !ret; i++)
		if (object_section(f, i, &shdr) && is_code_section(&shdr))
			ret = add_text(f, f->section_addr[i], shdr.sh_offset,
				       shdr.sh_size);
	if (!ret)
		sort_text(f);
	return ret;
}

uint64_t object_file_offset(struct object *f, uint64_t addr)
{
	GElf_Shdr shdr;
	size_t i;

	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, &shdr) && is_code_section(&shdr) &&
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

/* Returns the text that contains the address, or NULL. */
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

/* Whether part of the section is in the first 'nr' ranges, which are sorted. */
static bool is_in_text(const struct object *f, size_t nr,
		       const GElf_Shdr *shdr)
{
	size_t lo = 0, hi = nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->text[mid].addr < shdr->sh_addr + shdr->sh_size)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && f->text[lo - 1].addr + f->text[lo - 1].len > shdr->sh_addr;
}

/*
 * Adds executable sections in segments that are not executable: a program may
 * make them so.
 */
static int read_other_text(struct object *f)
{
	size_t i, nr = f->nr_text;
	GElf_Shdr shdr;
	int ret = 0;

	sort_text(f);

	for (i = 1; i < f->nr_sections && !ret; i++)
		if (object_section(f, i, &shdr) && is_code_section(&shdr) &&
		    !is_in_text(f, nr, &shdr))
			ret = add_text(f, shdr.sh_addr, shdr.sh_offset,
				       shdr.sh_size);
	sort_text(f);
	return ret;
}

/*
 * ELF requires loadable segments in address order, but files may not comply.
 * Memory beyond p_filesz is not in the file.
 */
static int read_segment_text(struct object *f)
{
	GElf_Phdr phdr;
	size_t i, nr;
	int ret = 0;

	if (elf_getphdrnum(f->elf, &nr))
		return object_error(f, f->ehdr.e_phoff, -EINVAL, "%s",
				    elf_errmsg(-1));
	ret = alloc_text(f, nr + f->nr_sections);
	for (i = 0; i < nr && !ret; i++)
		if (gelf_getphdr(f->elf, i, &phdr) &&
		    phdr.p_type == PT_LOAD && phdr.p_flags & PF_X)
			ret = add_text(f, phdr.p_vaddr, phdr.p_offset,
				       phdr.p_filesz);
	return ret ? ret : read_other_text(f);
}

static bool read_window(struct object *f, const struct object_code *segment,
			uint64_t addr)
{
	uint64_t skip = addr - segment->addr, len = segment->len - skip;
	struct object_window *w = f->window;

	w->addr = addr;
	w->len = len < WINDOW_SIZE ? len : WINDOW_SIZE;
	if (!file_read(f->fd, segment->file_offset + skip, w->bytes, w->len))
		return true;
	w->len = 0;
	return false;
}

const void *object_text_at(void *object, uint64_t addr, size_t len)
{
	struct object *f = object;
	struct object_window *w = f->window;
	const struct sfg_image *text;

	/* a debug file has no segments */
	if (!w || len > WINDOW_SIZE)
		return NULL;
	if (addr - w->addr < w->len && len <= w->len - (addr - w->addr))
		return w->bytes + (addr - w->addr);
	text = find_text(f, addr);
	if (!text || len > text->len - (addr - text->addr) ||
	    !read_window(f, f->segments + (text - f->text), addr))
		return NULL;
	return w->bytes;
}

/* Adds the part of [addr, end) that is in the text and not below 'from'. */
static void add_code(struct object *f, uint64_t addr, uint64_t end,
		     uint64_t from)
{
	const struct sfg_image *text;

	if (addr < from)
		addr = from;
	text = find_text(f, addr);
	if (!text || end <= addr)
		return;
	if (end - text->addr > text->len)
		end = text->addr + text->len;
	f->code[f->nr_code++] = (struct sfg_image) {
		.len = end - addr, .addr = addr,
	};
}

static void clip_code(struct object *f)
{
	size_t i, nr = f->nr_code;
	uint64_t from = 0;

	qsort(f->code, nr, sizeof(*f->code), compare_images);
	f->nr_code = 0;
	for (i = 0; i < nr; i++) {
		add_code(f, f->code[i].addr, f->code[i].addr + f->code[i].len,
			 from);
		if (f->nr_code)
			from = f->code[f->nr_code - 1].addr +
				 f->code[f->nr_code - 1].len;
	}
}

/* Segments may hold headers and data, too; sections are exact. */
static int read_code(struct object *f)
{
	GElf_Shdr shdr;
	size_t i;

	f->code = calloc(f->nr_sections + 1, sizeof(*f->code));
	if (!f->code)
		return object_no_memory(f);
	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, &shdr) && is_code_section(&shdr))
			f->code[f->nr_code++] = (struct sfg_image) {
				.addr = shdr.sh_addr, .len = shdr.sh_size,
			};
	clip_code(f);
	return 0;
}

static bool is_absent_code(const GElf_Shdr *shdr)
{
	return shdr->sh_flags & SHF_ALLOC && shdr->sh_flags & SHF_EXECINSTR &&
	       shdr->sh_type == SHT_NOBITS && shdr->sh_size;
}

/*
 * objcopy --only-keep-debug and eu-strip -f keep headers of sections whose
 * bytes stay in the program, as NOBITS. Segments are unchanged, so their
 * offsets are meaningless here.
 */
static bool is_debug_file(struct object *f)
{
	bool absent = false;
	GElf_Shdr shdr;
	size_t i;

	if (f->ehdr.e_type == ET_REL)
		return false;
	for (i = 1; i < f->nr_sections; i++) {
		if (!object_section(f, i, &shdr))
			continue;
		if (is_code_section(&shdr))
			return false;
		absent |= is_absent_code(&shdr);
	}
	return absent;
}

/* Takes addresses of the code; its bytes are in another file. */
static int read_absent_text(struct object *f)
{
	GElf_Shdr shdr;
	size_t i;

	f->text = calloc(f->nr_sections + 1, sizeof(*f->text));
	if (!f->text)
		return object_no_memory(f);
	for (i = 1; i < f->nr_sections; i++)
		if (object_section(f, i, &shdr) && is_absent_code(&shdr))
			f->text[f->nr_text++] = (struct sfg_image) {
				.addr = shdr.sh_addr, .len = shdr.sh_size,
			};
	qsort(f->text, f->nr_text, sizeof(*f->text), compare_images);
	for (i = 0; i < f->nr_text; i++)
		if (f->text[i].addr + f->text[i].len < f->text[i].addr ||
		    (i && f->text[i].addr - f->text[i - 1].addr <
			  f->text[i - 1].len))
			return object_error(f, 0, -EINVAL, "sections overlap");
	return 0;
}

static int read_any_text(struct object *f)
{
	if (f->ehdr.e_type == ET_REL)
		return read_object_text(f);
	f->is_debug_file = is_debug_file(f);
	return f->is_debug_file ? read_absent_text(f) : read_segment_text(f);
}

int object_read_text(struct object *f)
{
	int ret = place_object(f);

	if (ret || f->text)
		return ret;
	f->text_left = f->len;
	ret = read_any_text(f);
	if (!ret && !f->nr_text)
		ret = object_error(f, 0, -EINVAL, "no executable code");
	if (!ret && f->ehdr.e_type != ET_REL && !f->is_debug_file)
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

/* Returns 0, or an error and sets *why. */
static int load_section(struct object *f, size_t index, const GElf_Shdr *shdr,
			struct object_part *part, const char **why)
{
	uint64_t len = shdr->sh_size;
	int ret;

	*why = "reaches past the end of the file";
	if (!object_in_file(f, shdr->sh_offset, len))
		return -EINVAL;
	if (object_is_compressed(f, index, shdr)) {
		ret = object_decompress(f, index, shdr, &part->bytes, &len,
					why);
	} else {
		ret = object_try_load(f, shdr->sh_offset, len, &part->bytes);
		*why = ret ? object_unread(ret) : NULL;
	}
	if (!ret)
		place_part(part, shdr->sh_offset, len,
			   address_of(f, index, shdr));
	return ret;
}

static int section_error(const struct object *f, const GElf_Shdr *shdr,
			 const char *name, int code, const char *why)
{
	return object_error(f, shdr->sh_offset, code, "%s: %s", name, why);
}

/* Sections of one name follow each other in a part, as far apart as linked. */
static size_t next_start(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

/* Appends a section to the part. */
static int append_part(struct object *f, struct object_part *part,
		       struct object_part *more)
{
	size_t start = next_start(part->image.len);
	size_t len = start + more->image.len;
	uint8_t *bytes = file_alloc(len);

	if (!bytes)
		return object_no_memory(f);
	memcpy(bytes, part->bytes, part->image.len);
	memset(bytes + part->image.len, 0, start - part->image.len);
	memcpy(bytes + start, more->bytes, more->image.len);
	free(part->bytes);
	part->bytes = bytes;
	part->image.data = bytes;
	part->image.len = len;
	return 0;
}

/*
 * Appends more sections of the name, as `ld -r' keeps them if flags or types of
 * its inputs differ. Addresses move to the place after the others.
 */
static int append_section(struct object *f, struct object_part *part,
			  const char *name, size_t index,
			  const GElf_Shdr *shdr)
{
	struct object_part more = { 0 };
	const char *why;
	size_t start;
	int ret = load_section(f, index, shdr, &more, &why);

	if (ret)
		return section_error(f, shdr, name, ret, why);
	ret = append_part(f, part, &more);
	free(more.bytes);
	if (ret)
		return ret;
	start = part->image.len - more.image.len;
	if (f->section_addr[index] != NOWHERE)
		f->section_addr[index] = part->image.addr + start;
	part->last_section = start;
	return object_relocate(f, part, index, start);
}

static int append_sections(struct object *f, struct object_part *part,
			   const char *name, size_t index)
{
	GElf_Shdr shdr;
	int ret = 0;

	while (!ret && (index = next_section(f, name, index, &shdr)))
		ret = append_section(f, part, name, index, &shdr);
	return ret;
}

/*
 * Returns 0 with image.data NULL if there is no such section. .eh_frame and
 * .sframe of object files name code by relocations; linkers apply them.
 */
static int read_section(struct object *f, const char *name, size_t index,
			const GElf_Shdr *shdr, struct object_part *part)
{
	const char *why;
	int ret = load_section(f, index, shdr, part, &why);

	if (ret)
		return section_error(f, shdr, name, ret, why);
	return f->ehdr.e_type == ET_REL ? object_relocate(f, part, index, 0) :
					  0;
}

static int read_part(struct object *f, const char *name,
		     struct object_part *part)
{
	GElf_Shdr shdr;
	size_t index = object_find_section(f, name, &shdr);

	return index ? read_section(f, name, index, &shdr, part) : 0;
}

/* An object file may have CFI in several sections. */
static int read_cfi_sections(struct object *f, const char *name)
{
	GElf_Shdr shdr;
	size_t index = object_find_section(f, name, &shdr);
	int ret;

	if (!index)
		return 0;
	ret = read_section(f, name, index, &shdr, &f->cfi);
	if (!ret && f->ehdr.e_type == ET_REL)
		ret = append_sections(f, &f->cfi, name, index);
	return ret;
}

uint64_t object_cfi_offset(struct object *f, size_t offset)
{
	const char *name = f->cfi_flags & SFG_INPUT_DEBUG_FRAME ?
			   ".debug_frame" : ".eh_frame";
	size_t index = 0, start = 0;
	GElf_Shdr shdr;

	while (f->cfi.last_section &&
	       (index = next_section(f, name, index, &shdr))) {
		if (offset < start + shdr.sh_size)
			return shdr.sh_offset + offset - start;
		start = next_start(start + shdr.sh_size);
	}
	return f->cfi.file_offset + offset;
}

/* Without section headers, PT_GNU_EH_FRAME leads to .eh_frame. */

/* Differences are unsigned: an address below p_vaddr exceeds p_filesz. */
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
	return object_is_big_endian(f) ?
	       (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3] :
	       (uint32_t)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
}

/* DW_EH_PE_pcrel | DW_EH_PE_sdata4: what all linkers write. */
#define PCREL_SDATA4	0x1b

/*
 * .eh_frame_hdr: version 1, three encodings, then the pointer. LSB: the
 * encodings are those of the pointer to .eh_frame, of the number of entries in
 * the search table, and of the entries. The pointer is at offset 4 and relative
 * to itself.
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

/* DW_EH_PE_udata4, and DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define UDATA4		0x03
#define DATAREL_SDATA4	0x3b

#define INDEX_BLOCK	8192	/* bytes: entries of 8 */

/*
 * Returns the last address of an FDE in .eh_frame_hdr, or 0 if it lists none.
 * The pointer is followed by the number of entries, and for each by the
 * addresses of a function and of its FDE, relative to the start.
 */
static uint64_t last_listed_fde(struct object *f, const GElf_Phdr *phdr)
{
	uint64_t left, offset = phdr->p_offset + 12, addr, last = 0;
	uint8_t head[12], block[INDEX_BLOCK];
	size_t n, i;

	if (phdr->p_filesz < 12 ||
	    !object_in_file(f, phdr->p_offset, phdr->p_filesz) ||
	    file_read(f->fd, phdr->p_offset, head, 12) || head[0] != 1 ||
	    head[2] != UDATA4 || head[3] != DATAREL_SDATA4)
		return 0;
	left = 8 * (uint64_t)get_u32(f, head + 8);
	if (left > phdr->p_filesz - 12)
		return 0;
	for (; left; left -= n, offset += n) {
		n = left < sizeof(block) ? left : sizeof(block);
		if (file_read(f->fd, offset, block, n))
			return 0;
		for (i = 4; i < n; i += 8) {
			addr = phdr->p_vaddr + (int32_t)get_u32(f, block + i);
			last = addr > last ? addr : last;
		}
	}
	return last;
}

/* A zero terminator from another file may precede listed FDEs. */
static void read_listed(struct object *f)
{
	const struct sfg_image *cfi = &f->cfi.image;
	GElf_Phdr phdr;
	uint64_t last;

	if (f->ehdr.e_type == ET_REL) {
		f->cfi_listed = f->cfi.last_section;
		return;
	}
	if (f->cfi_flags & SFG_INPUT_DEBUG_FRAME ||
	    !first_segment(f, PT_GNU_EH_FRAME, &phdr))
		return;
	last = last_listed_fde(f, &phdr);
	if (last - cfi->addr < cfi->len)
		f->cfi_listed = last - cfi->addr + 1;
}

/*
 * Bytes from 'addr' to the end of the last FDE in the index; 'max' if unknown.
 */
static uint64_t listed_len(struct object *f, const GElf_Phdr *hdr,
			   const GElf_Phdr *load, uint64_t addr, uint64_t max)
{
	uint64_t last = last_listed_fde(f, hdr), len;
	uint8_t p[4];

	if (max < 4 || last - addr > max - 4 ||
	    file_read(f->fd, load->p_offset + (last - load->p_vaddr), p, 4))
		return max;
	/* longer ones have 64-bit lengths, which no tool writes */
	len = last - addr + 4 + (uint64_t)get_u32(f, p);
	return len < max ? len : max;
}

/*
 * No header has the end of .eh_frame. Read up to the last FDE of its index, or
 * without one to the end of its segment; the parser stops at the zero
 * terminator.
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
	return load_part(f, &f->cfi, load.p_offset + skip,
			 listed_len(f, &hdr, &load, addr, load.p_filesz - skip),
			 addr);
}

/*
 * Used if there is no .eh_frame: for code built without unwind tables, but with
 * debug information.
 */
static int read_debug_frame(struct object *f)
{
	GElf_Shdr shdr;

	f->cfi_flags = SFG_INPUT_DEBUG_FRAME;
	return read_cfi_sections(f,
				 object_find_section(f, ".debug_frame", &shdr) ?
				 ".debug_frame" : ".zdebug_frame");
}

static void read_hdr_len(struct object *f)
{
	GElf_Phdr phdr;

	if (f->ehdr.e_type != ET_REL &&
	    first_segment(f, PT_GNU_EH_FRAME, &phdr))
		f->eh_frame_hdr_len = phdr.p_filesz;
}

/* libelf treats what it could not read as absent. */
static int check_length(const struct object *f)
{
	char last;

	return object_read(f, f->len - 1, &last, 1);
}

static int read_eh_frame(struct object *f)
{
	int ret = read_cfi_sections(f, ".eh_frame");

	if (!ret && !f->cfi.image.data && f->ehdr.e_type != ET_REL)
		ret = read_cfi_by_segment(f);
	return ret;
}

/* Go's table is enough. */
static int no_cfi(struct object *f)
{
	f->cfi_flags = 0;
	if (f->has_go)
		return 0;
	if (f->go_unusable)
		return object_error(f, 0, -EINVAL, "no call frame information,"
				    " and Go's table is not used: %s",
				    f->go_unusable);
	return object_error(f, 0, -EINVAL, f->is_debug_file ?
			    "a separate debug file without .debug_frame: use"
			    " the program or library that it belongs to" :
			    "no call frame information");
}

int object_read_cfi(struct object *f)
{
	int ret = object_read_text(f);

	/* a debug file has the segments of its program */
	if (!ret && !f->is_debug_file)
		ret = read_eh_frame(f);
	if (!ret && !f->cfi.image.data)
		ret = read_debug_frame(f);
	if (!ret && !f->cfi.image.data)
		ret = no_cfi(f);
	if (ret)
		return ret;
	read_listed(f);
	read_hdr_len(f);
	return check_length(f);
}

void object_read_debug_frame(struct object *f)
{
	GElf_Shdr shdr;
	size_t index;

	/* in object files the library would need its relocations, too */
	if (f->ehdr.e_type == ET_REL || f->cfi_flags & SFG_INPUT_DEBUG_FRAME)
		return;
	index = find_debug_frame(f, &shdr);
	if (!index)
		return;
	if (!f->nr_code)
		f->debug_frame_unusable = "no section is executable";
	else
		load_section(f, index, &shdr, &f->debug_frame,
			     &f->debug_frame_unusable);
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
