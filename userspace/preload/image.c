// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Program headers of a loaded module to its text, its call frame information
 * and its build-id. ld.so has mapped the module and will run it, but has only
 * checked what it needs itself: every range is taken only from inside a
 * readable segment.
 */
#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

#include "cfi.h"
#include "image.h"
#include "sys.h"

/* DW_EH_PE_*: how a pointer is stored. */
#define PE_FORMAT(enc)	((enc) & 0x0f)
#define PE_BASE(enc)	((enc) & 0xf0)
#define PE_ABSPTR	0x00
#define PE_UDATA2	0x02
#define PE_UDATA4	0x03
#define PE_UDATA8	0x04
#define PE_SDATA2	0x0a
#define PE_SDATA4	0x0b
#define PE_SDATA8	0x0c
#define PE_PCREL	0x10
#define PE_DATAREL	0x30
#define PE_OMIT		0xff

/* _fini(), which only returns: 9 or 13 bytes on x86-64, 16 with its padding. */
#define LONGEST_FINI	16

/* Writable segments of a module with Go's table. */
#define MOST_DATA	4

struct cursor {
	const uint8_t *p, *end;
	uint64_t addr;		/* link-time address of *p */
};

static const ElfW(Phdr) *find_segment(const struct dl_phdr_info *info,
				      uint64_t addr)
{
	const ElfW(Phdr) *ph;

	for (ph = info->dlpi_phdr; ph < info->dlpi_phdr + info->dlpi_phnum;
	     ph++)
		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_R) &&
		    addr >= ph->p_vaddr && addr - ph->p_vaddr < ph->p_filesz)
			return ph;
	return NULL;
}

static const ElfW(Phdr) *find_header(const struct dl_phdr_info *info,
				     uint32_t type)
{
	const ElfW(Phdr) *ph;

	for (ph = info->dlpi_phdr; ph < info->dlpi_phdr + info->dlpi_phnum;
	     ph++)
		if (ph->p_type == type)
			return ph;
	return NULL;
}

/* From 'addr' to the end of its segment; false: in no readable one. */
static bool open_cursor(struct cursor *c, const struct dl_phdr_info *info,
			uint64_t addr)
{
	const ElfW(Phdr) *ph = find_segment(info, addr);

	if (!ph)
		return false;
	c->p = (const uint8_t *)(uintptr_t)(info->dlpi_addr + addr);
	c->end = c->p + (ph->p_filesz - (addr - ph->p_vaddr));
	c->addr = addr;
	return true;
}

static bool take_bytes(struct cursor *c, void *to, size_t length)
{
	/* The value is completely inside the segment. */
	if ((size_t)(c->end - c->p) < length)
		return false;
	memcpy(to, c->p, length);
	c->p += length;
	c->addr += length;
	return true;
}

static bool take_unsigned(struct cursor *c, size_t length, uint64_t *value)
{
	union {
		uint16_t half;
		uint32_t word;
		uint64_t whole;
	} v;

	if (!take_bytes(c, &v, length))
		return false;
	*value = length == 2 ? v.half : length == 4 ? v.word : v.whole;
	return true;
}

static bool take_signed(struct cursor *c, size_t length, uint64_t *value)
{
	if (!take_unsigned(c, length, value))
		return false;
	*value = length == 2 ? (uint64_t)(int16_t)*value :
			       (uint64_t)(int32_t)*value;
	return true;
}

static bool take_encoded(struct cursor *c, uint8_t enc, uint64_t *value)
{
	*value = 0;
	switch (PE_FORMAT(enc)) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return take_unsigned(c, 8, value);
	case PE_UDATA2:
		return take_unsigned(c, 2, value);
	case PE_UDATA4:
		return take_unsigned(c, 4, value);
	case PE_SDATA2:
		return take_signed(c, 2, value);
	case PE_SDATA4:
		return take_signed(c, 4, value);
	}
	return false;
}

/* A pointer of .eh_frame_hdr, which starts at 'hdr'. */
static bool take_pointer(struct cursor *c, uint8_t enc, uint64_t hdr,
			 uint64_t *value)
{
	uint64_t here = c->addr;

	if (enc == PE_OMIT || !take_encoded(c, enc, value))
		return false;
	switch (PE_BASE(enc)) {
	case 0:
		return true;
	case PE_PCREL:
		*value += here;
		return true;
	case PE_DATAREL:
		*value += hdr;
		return true;
	}
	return false;
}

static bool entry_end(const struct dl_phdr_info *info, uint64_t addr,
		      uint64_t *end)
{
	struct cursor c;
	uint64_t length = 0;

	if (!open_cursor(&c, info, addr) || !take_unsigned(&c, 4, &length))
		return false;
	/* 64-bit DWARF: the length follows the escape. */
	if (length == 0xffffffff && !take_unsigned(&c, 8, &length))
		return false;
	*end = c.addr + length;
	return true;
}

/*
 * Linkers without crtend.o leave no zero terminator (vDSO): the entry that
 * the search table has at the highest address is the last one.
 */
static uint64_t table_end(const struct dl_phdr_info *info, struct cursor *c,
			  const uint8_t *enc, uint64_t hdr)
{
	uint64_t count, start, fde, last = 0, end = 0;

	if (!take_pointer(c, enc[2], hdr, &count))
		return 0;
	while (count-- && take_pointer(c, enc[3], hdr, &start) &&
	       take_pointer(c, enc[3], hdr, &fde))
		if (fde > last)
			last = fde;
	return last && entry_end(info, last, &end) ? end : 0;
}

/* The encodings: version, eh_frame, count, table; and the place behind. */
static bool open_eh_frame_hdr(const struct image *image, struct cursor *c,
			      uint8_t enc[4], uint64_t *addr)
{
	/* The only version there is, and a pointer into the module. */
	return open_cursor(c, image->info, image->index) &&
	       take_bytes(c, enc, 4) && enc[0] == 1 &&
	       take_pointer(c, enc[1], image->index, addr);
}

static bool read_cfi(struct image *image, const ElfW(Phdr) *ph)
{
	struct cursor c, cfi;
	uint8_t enc[4];
	uint64_t addr;

	image->index = ph->p_vaddr;
	image->index_length = ph->p_memsz;
	if (!open_eh_frame_hdr(image, &c, enc, &addr) ||
	    !open_cursor(&cfi, image->info, addr))
		return false;
	image->cfi.data = cfi.p;
	image->cfi.addr = addr;
	image->cfi.len = cfi.end - cfi.p;
	return true;
}

void image_measure(struct image *image)
{
	uint64_t addr, end;
	struct cursor c;
	uint8_t enc[4];

	if (!open_eh_frame_hdr(image, &c, enc, &addr))
		return;
	end = table_end(image->info, &c, enc, image->index);
	if (end > addr && end - addr < image->cfi.len)
		image->cfi.len = end - addr;
}

/*
 * Go's table of functions in a module, see sframegen.h. No program header names
 * it, and sections are not in memory.
 *
 * Programs have the table in constant data, position-independent ones in data that
 * is constant once it is relocated. A copy of a file is not relocated.
 */

/* The first bytes of writable data, which ld.so makes read-only. */
static uint64_t constant_after_relocation(const struct dl_phdr_info *info,
					  const ElfW(Phdr) *load)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;
	uint64_t end = 0;

	for (; ph < info->dlpi_phdr + info->dlpi_phnum; ph++)
		if (ph->p_type == PT_GNU_RELRO && ph->p_vaddr >= load->p_vaddr &&
		    ph->p_vaddr - load->p_vaddr < load->p_filesz)
			end = ph->p_vaddr - load->p_vaddr + ph->p_filesz;
	return end < load->p_filesz ? end : load->p_filesz;
}

static uint64_t constant_length(const struct dl_phdr_info *info,
				const ElfW(Phdr) *load)
{
	if (load->p_type != PT_LOAD || !(load->p_flags & PF_R) ||
	    load->p_flags & PF_X)
		return 0;
	return load->p_flags & PF_W ? constant_after_relocation(info, load) :
	       load->p_filesz;
}

static struct sfg_image segment_image(const struct dl_phdr_info *info,
				      const ElfW(Phdr) *load, uint64_t length)
{
	return (struct sfg_image) {
		(const void *)(uintptr_t)(info->dlpi_addr + load->p_vaddr),
		length, load->p_vaddr,
	};
}

static size_t read_data(const struct dl_phdr_info *info,
			struct sfg_image *data)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;
	size_t nr = 0;

	for (; ph < info->dlpi_phdr + info->dlpi_phnum && nr < MOST_DATA; ph++)
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_W)
			data[nr++] = segment_image(info, ph, ph->p_filesz);
	return nr;
}

/* Looks at all constant data. False: there is none for this text. */
static bool find_go(const struct dl_phdr_info *info,
		    const struct sfg_image *text, size_t nr_text,
		    struct sfg_go *go)
{
	struct sfg_image data[MOST_DATA];
	struct sfg_go_input in = {
		.abi = SFG_HOST_ABI, .text = text, .nr_text = nr_text,
		.data = data, .nr_data = read_data(info, data),
	};
	const ElfW(Phdr) *ph = info->dlpi_phdr;

	for (; ph < info->dlpi_phdr + info->dlpi_phnum; ph++) {
		in.table = segment_image(info, ph, constant_length(info, ph));
		in.bias = 0;
		if (in.table.len && !sfg_find_go(go, &in, NULL))
			return true;
		in.bias = info->dlpi_addr;
		if (in.table.len && in.bias && !sfg_find_go(go, &in, NULL))
			return true;
	}
	return false;
}

/* Go's runtime alone has six times as much. */
#define GO_TEXT_LEAST	65536

/* A library of data, such as ICU's of 30 MB, is not worth the search. */
static bool may_have_go(const struct image *image)
{
	uint64_t len = 0;
	size_t i;

	for (i = 0; i < image->nr_text; i++)
		len += image->text[i].len;
	return len >= GO_TEXT_LEAST;
}

bool image_find_go(struct image *image)
{
	if (!image->searched_go && may_have_go(image))
		image->has_go = find_go(image->info, image->text,
					image->nr_text, &image->go);
	image->searched_go = true;
	return image->has_go;
}

static void add_text_segment(struct image *image, const ElfW(Phdr) *ph)
{
	struct sfg_image *text = &image->text[image->nr_text++];

	text->addr = ph->p_vaddr;
	text->len = ph->p_memsz;
	text->data = NULL;
	if ((ph->p_flags & PF_R) && ph->p_filesz == ph->p_memsz)
		text->data = (const void *)(image->bias + ph->p_vaddr);
}

/* ELF wants PT_LOAD in ascending order and ld.so relies on it. */
static bool read_text_segments(struct image *image,
			       const struct dl_phdr_info *info)
{
	const ElfW(Phdr) *ph;
	uint64_t end = 0;

	for (ph = info->dlpi_phdr; ph < info->dlpi_phdr + info->dlpi_phnum;
	     ph++) {
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) ||
		    !ph->p_memsz)
			continue;
		/* Ascending, not around the end of memory, not too many. */
		if (ph->p_vaddr < end || ph->p_vaddr + ph->p_memsz < end ||
		    image->nr_text == IMAGE_MAX_TEXT)
			return false;
		end = ph->p_vaddr + ph->p_memsz;
		add_text_segment(image, ph);
	}
	return image->nr_text;
}

static bool read_note(struct image *image, struct cursor *c, uint64_t align)
{
	ElfW(Nhdr) note;
	uint8_t name[4];
	uint64_t skip;

	if (!take_bytes(c, &note, sizeof(note)))
		return false;
	if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
	    take_bytes(c, name, 4) && !memcmp(name, "GNU", 4)) {
		image->id = c->p;
		image->id_length = note.n_descsz;
		return note.n_descsz <= (size_t)(c->end - c->p);
	}
	if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4)
		return false;
	skip = ((uint64_t)note.n_namesz + align - 1) / align * align;
	skip += ((uint64_t)note.n_descsz + align - 1) / align * align;
	if (skip > (uint64_t)(c->end - c->p))
		return false;
	c->p += skip;
	c->addr += skip;
	return true;
}

static void read_notes(struct image *image, const struct dl_phdr_info *info,
		       const ElfW(Phdr) *ph)
{
	struct cursor c;

	if (!open_cursor(&c, info, ph->p_vaddr))
		return;
	if (ph->p_filesz < (size_t)(c.end - c.p))
		c.end = c.p + ph->p_filesz;
	while (!image->id &&
	       read_note(image, &c, ph->p_align == 8 ? 8 : 4))
		;
	/* Long enough to be unique, short enough for a file name. */
	if (image->id_length < 8 || image->id_length > 64 ||
	    image->id + image->id_length > c.end)
		image->id = NULL;
}

static void read_id(struct image *image, const struct dl_phdr_info *info)
{
	const struct sfg_image *cfi = &image->cfi, *go = &image->go.table;
	int i;

	for (i = 0; i < info->dlpi_phnum && !image->id; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			read_notes(image, info, &info->dlpi_phdr[i]);
	if (image->id)
		return;
	image_measure(image);
	image->own_id[0] = sum_bytes(SUM_START, cfi->data, cfi->len);
	image->own_id[1] = sum_bytes(SUM_PRIME, cfi->data, cfi->len);
	if (image_find_go(image)) {
		image->own_id[0] = sum_bytes(image->own_id[0], go->data,
					     go->len);
		image->own_id[1] = sum_bytes(image->own_id[1], go->data,
					     go->len);
	}
	image->id = (const uint8_t *)image->own_id;
	image->id_length = sizeof(image->own_id);
}

uint64_t image_identity(const struct image *image)
{
	uint64_t sum = sum_bytes(SUM_START, image->id, image->id_length);

	sum = sum_bytes(sum, &image->cfi.addr, sizeof(image->cfi.addr));
	return sum_bytes(sum, &image->index_length,
			 sizeof(image->index_length));
}

/* The kernel's, which has no call frame information on some machines. */
static bool is_vdso(const struct image *image)
{
	uintptr_t start = image->bias + image->text[0].addr;
	uintptr_t header = getauxval(AT_SYSINFO_EHDR);

	return header >= start && header - start < image->text[0].len;
}

/* Link-time addresses; 0: it is not there. */
static void read_dynamic(const struct dl_phdr_info *info, uint64_t *init,
			 uint64_t *fini)
{
	const ElfW(Phdr) *ph = find_header(info, PT_DYNAMIC);
	struct cursor c;
	ElfW(Dyn) d;

	if (!ph || !open_cursor(&c, info, ph->p_vaddr))
		return;
	while (take_bytes(&c, &d, sizeof(d)) && d.d_tag != DT_NULL)
		if (d.d_tag == DT_INIT)
			*init = d.d_un.d_ptr;
		else if (d.d_tag == DT_FINI)
			*fini = d.d_un.d_ptr;
}

static void cut_text(struct sfg_image *code, uint64_t from, uint64_t to)
{
	uint64_t skipped = from - code->addr;

	code->data = code->data ? (const char *)code->data + skipped : NULL;
	code->addr = from;
	code->len = to - from;
}

/*
 * Linkers put code and constants, often many megabytes, into one segment (-z
 * noseparate-code). There is no section header in memory, but _init comes before
 * all other code, and _fini after it.
 */
static void find_code_bounds(struct image *image)
{
	uint64_t init = 0, fini = 0;
	struct sfg_image *code;
	size_t i;

	memcpy(image->code, image->text, sizeof(image->code));
	read_dynamic(image->info, &init, &fini);
	for (i = 0; i < image->nr_text; i++) {
		code = &image->code[i];
		/* Both are in this segment, which has data, too. */
		if (image->cfi.addr - code->addr < code->len && init < fini &&
		    init >= code->addr && fini < code->addr + code->len &&
		    code->addr + code->len - fini >= LONGEST_FINI)
			cut_text(code, init, fini + LONGEST_FINI);
	}
}

static bool search_cfi(struct image *image, const int *file)
{
	uintptr_t text = image->bias + image->text[0].addr;

	/* Go's own .debug_frame leaves out the frame pointer. */
	if (cfi_find(image->info, image->text, image->nr_text, &image->cfi) ||
	    image_find_go(image))
		return true;
	if (file)
		image->is_debug_frame = cfi_read_file(*file, &image->cfi);
	else
		image->is_debug_frame = cfi_read_module(image->info, text,
							&image->cfi);
	return image->is_debug_frame;
}

static int read_module_image(struct image *image,
			     const struct dl_phdr_info *info, const int *file,
			     const char **reason)
{
	const ElfW(Phdr) *hdr = find_header(info, PT_GNU_EH_FRAME);

	memset(image, 0, sizeof(*image));
	image->info = info;
	image->bias = info->dlpi_addr;
	if (!read_text_segments(image, info)) {
		*reason = "no executable segment, or more than 8";
		return -ENOEXEC;
	}
	if (!hdr && !search_cfi(image, file) && !is_vdso(image)) {
		*reason = "neither .eh_frame_hdr nor .eh_frame nor Go's table";
		return -ENOENT;
	}
	if (hdr && !read_cfi(image, hdr)) {
		*reason = "malformed .eh_frame_hdr";
		return -EINVAL;
	}
	find_code_bounds(image);
	read_id(image, info);
	return 0;
}

int image_read(struct image *image, const struct dl_phdr_info *info,
	       const char **reason)
{
	return read_module_image(image, info, NULL, reason);
}

int image_read_copy(struct image *image, const struct dl_phdr_info *info,
		    int file, const char **reason)
{
	return read_module_image(image, info, &file, reason);
}
