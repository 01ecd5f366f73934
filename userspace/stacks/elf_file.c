// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * libelf reads headers and names, with pread(): memory that is mapped from a
 * file may go away. Call frame information is read here, and its length is
 * checked against the file before anything is allocated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eh_frame.h"
#include "elf_file.h"

/* Areas of .eh_frame_hdr and of SFrame have lengths of 32 bits. */
#define MAX_CFI		(1ULL << 31)
#define MAX_NOTES	(1 << 16)
#define MAX_DEBUG_FRAME	(1U << 28)
#define MAX_GO		(1U << 28)	/* table, and data */
#define MAX_SEARCHED	(1U << 28)

static bool in_file(const struct elf *file, uint64_t offset, uint64_t length)
{
	return offset <= file->length && length <= file->length - offset;
}

/* -ENODATA: the file has become shorter. */
static int read_file_bytes(const struct elf *file, uint64_t offset, uint8_t *to,
			   size_t length)
{
	ssize_t n;

	if (file->fd < 0) {
		memcpy(to, file->image + offset, length);
		return 0;
	}
	while (length) {
		n = pread(file->fd, to, length, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		to += n;
		offset += n;
		length -= n;
	}
	return 0;
}

static int check_elf_file(struct elf *file, unsigned int abi)
{
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF ||
	    !gelf_getehdr(file->elf, &file->header) ||
	    file->header.e_ident[EI_CLASS] != ELFCLASS64)
		return -EINVAL;
	if (sfg_abi_of_elf(file->header.e_machine,
			   file->header.e_ident[EI_DATA]) != abi)
		return -EXDEV;
	return 0;
}

/* libelf takes what is too short for a header as no ELF file. */
int elf_open(struct elf *file, unsigned int abi, int fd, const void *image,
	     uint64_t length)
{
	int ret;

	memset(file, 0, sizeof(*file));
	file->fd = fd;
	file->image = image;
	file->length = length;
	elf_version(EV_CURRENT);
	if (fd >= 0)
		file->elf = elf_begin(fd, ELF_C_READ, NULL);
	else
		file->elf = elf_memory((char *)image, length);
	ret = check_elf_file(file, abi);
	if (ret)
		elf_close(file);
	return ret;
}

void elf_close(struct elf *file)
{
	if (file->elf)
		elf_end(file->elf);
	file->elf = NULL;
}

static bool program_header(struct elf *file, size_t i, GElf_Phdr *phdr)
{
	return gelf_getphdr(file->elf, i, phdr) &&
	       in_file(file, phdr->p_offset, phdr->p_filesz);
}

static size_t nr_program_headers(struct elf *file)
{
	size_t nr;

	return elf_getphdrnum(file->elf, &nr) ? 0 : nr;
}

/* The build-id. */

/* libelf keeps each note inside of the data. */
static bool find_build_id(Elf_Data *notes, struct content *content)
{
	size_t name, desc, at = 0;
	GElf_Nhdr note;

	while ((at = gelf_getnote(notes, at, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)notes->d_buf + name, "GNU", 4))
			continue;
		/* Not empty, and not longer than anybody can say. */
		if (!note.n_descsz || note.n_descsz > sizeof(content->build_id))
			return false;
		content->length = note.n_descsz;
		memcpy(content->build_id, (char *)notes->d_buf + desc,
		       note.n_descsz);
		return true;
	}
	return false;
}

static bool segment_build_id(struct elf *file, const GElf_Phdr *phdr,
			     struct content *content)
{
	Elf_Data *notes;

	if (phdr->p_type != PT_NOTE || phdr->p_filesz > MAX_NOTES)
		return false;
	notes = elf_getdata_rawchunk(file->elf, phdr->p_offset, phdr->p_filesz,
				     phdr->p_align == 8 ? ELF_T_NHDR8 :
							  ELF_T_NHDR);
	return notes && find_build_id(notes, content);
}

static bool section_build_id(Elf_Scn *scn, struct content *content)
{
	Elf_Data *notes;
	GElf_Shdr shdr;

	if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE ||
	    shdr.sh_size > MAX_NOTES)
		return false;
	notes = elf_getdata(scn, NULL);
	return notes && find_build_id(notes, content);
}

/* The files of perf inject --jit have a section of notes and no segment. */
void elf_read_build_id(struct elf *file, struct content *content)
{
	size_t i, nr = nr_program_headers(file);
	Elf_Scn *scn = NULL;
	GElf_Phdr phdr;

	for (i = 0; i < nr; i++)
		if (program_header(file, i, &phdr) &&
		    segment_build_id(file, &phdr, content))
			return;
	while ((scn = elf_nextscn(file->elf, scn)))
		if (section_build_id(scn, content))
			return;
}

void elf_read_build_id_of(int fd, struct content *content)
{
	struct elf file = { .fd = fd };
	struct stat st;

	if (fstat(fd, &st))
		return;
	file.length = st.st_size;
	elf_version(EV_CURRENT);
	file.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (file.elf && elf_kind(file.elf) == ELF_K_ELF)
		elf_read_build_id(&file, content);
	elf_close(&file);
}

/* Call frame information. */

struct part {
	uint64_t offset, length, addr;
};

static bool named(struct elf *file, const GElf_Shdr *shdr, const char *name)
{
	const char *is;
	size_t strings;

	if (elf_getshdrstrndx(file->elf, &strings))
		return false;
	is = elf_strptr(file->elf, strings, shdr->sh_name);
	return is && !strcmp(is, name);
}

/* By name: the type is PROGBITS or the psABI's. */
static bool find_section(struct elf *file, const char *name, struct part *part)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(file->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS ||
		    shdr.sh_flags & SHF_COMPRESSED ||
		    !named(file, &shdr, name) ||
		    !in_file(file, shdr.sh_offset, shdr.sh_size))
			continue;
		*part = (struct part) {
			shdr.sh_offset, shdr.sh_size, shdr.sh_addr,
		};
		return shdr.sh_size;
	}
	return false;
}

static bool find_file_segment(struct elf *file, uint64_t addr, GElf_Phdr *phdr)
{
	size_t i, nr = nr_program_headers(file);

	for (i = 0; i < nr; i++)
		if (program_header(file, i, phdr) && phdr->p_type == PT_LOAD &&
		    addr - phdr->p_vaddr < phdr->p_filesz)
			return true;
	return false;
}

/*
 * .eh_frame_hdr: version 1, three encodings, and, as all linkers write it, a
 * pointer to .eh_frame of 4 bytes that is relative to itself.
 */
#define PCREL_SDATA4	0x1b

static bool read_eh_frame_hdr(struct elf *file, const GElf_Phdr *phdr,
			      uint64_t *addr)
{
	uint8_t p[8];
	int32_t distance;

	if (phdr->p_filesz < sizeof(p) ||
	    read_file_bytes(file, phdr->p_offset, p, sizeof(p)) || p[0] != 1 ||
	    p[1] != PCREL_SDATA4)
		return false;
	distance = (uint32_t)p[4] | p[5] << 8 | p[6] << 16 |
		   (uint32_t)p[7] << 24;
	if (file->header.e_ident[EI_DATA] == ELFDATA2MSB)
		distance = __builtin_bswap32(distance);
	*addr = phdr->p_vaddr + 4 + distance;
	return true;
}

static bool find_eh_frame_hdr(struct elf *file, GElf_Phdr *phdr)
{
	size_t i, nr = nr_program_headers(file);

	for (i = 0; i < nr; i++)
		if (program_header(file, i, phdr) &&
		    phdr->p_type == PT_GNU_EH_FRAME)
			return true;
	return false;
}

/*
 * Files without section headers: .eh_frame is read to the end of its segment,
 * and ends at its terminator.
 */
static bool find_by_header(struct elf *file, struct part *part)
{
	GElf_Phdr phdr;
	uint64_t addr, skip;

	if (!find_eh_frame_hdr(file, &phdr) ||
	    !read_eh_frame_hdr(file, &phdr, &addr) ||
	    !find_file_segment(file, addr, &phdr))
		return false;
	skip = addr - phdr.p_vaddr;
	*part = (struct part) {
		phdr.p_offset + skip, phdr.p_filesz - skip, addr,
	};
	return true;
}

static int find_in_segment(struct elf *file, const GElf_Phdr *phdr,
			   struct part *part)
{
	bool swapped = (file->header.e_ident[EI_DATA] == ELFDATA2MSB) !=
		       (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	/* Addresses are multiples of 4. */
	uint64_t skip = -phdr->p_vaddr & 3, length = phdr->p_filesz - skip;
	uint8_t *bytes;
	size_t at, size;
	int ret;

	if (phdr->p_filesz < skip || length > MAX_SEARCHED)
		return -ENODATA;
	bytes = malloc(length + 1);
	if (!bytes)
		return -ENOMEM;
	ret = read_file_bytes(file, phdr->p_offset + skip, bytes, length);
	if (ret || !eh_frame_find(bytes, length, swapped, &at, &size))
		ret = -ENODATA;
	else
		*part = (struct part) {
			phdr->p_offset + skip + at, size,
			phdr->p_vaddr + skip + at,
		};
	free(bytes);
	return ret;
}

/* Without section headers nothing tells where that of a static program is. */
static int find_by_contents(struct elf *file, struct part *part)
{
	size_t i, nr = nr_program_headers(file);
	GElf_Phdr phdr;
	int ret = -ENODATA;

	if (file->header.e_shoff)
		return -ENODATA;
	for (i = 0; ret == -ENODATA && i < nr; i++)
		if (program_header(file, i, &phdr) && phdr.p_type == PT_LOAD)
			ret = find_in_segment(file, &phdr, part);
	return ret;
}

static int find_eh_frame(struct elf *file, struct part *part)
{
	if (find_section(file, ".eh_frame", part) || find_by_header(file, part))
		return 0;
	return find_by_contents(file, part);
}

static int open_cfi(struct table *table, struct sfg_input *in,
		    struct sfg_cfi **cfi)
{
	int ret;

	in->flags |= SFG_INPUT_ADDENDS;
	ret = sfg_open_cfi(in, cfi, NULL);
	if (ret)
		return ret == -ENOMEM ? ret : -EINVAL;
	table->bytes += in->cfi.len + in->index.len;
	return 0;
}

/* A missing index only takes time. */
static size_t index_length(struct elf *file, GElf_Phdr *hdr)
{
	return find_eh_frame_hdr(file, hdr) &&
	       in_file(file, hdr->p_offset, hdr->p_filesz) &&
	       hdr->p_filesz <= MAX_CFI ? hdr->p_filesz : 0;
}

static int use_eh_frame(struct elf *file, unsigned int abi,
			struct table *table)
{
	struct sfg_input in = { .abi = abi };
	struct part part;
	GElf_Phdr hdr;
	size_t length;
	uint8_t *data;
	int ret = find_eh_frame(file, &part);

	if (ret)
		return ret;
	if (part.length > MAX_CFI)
		return -EINVAL;
	length = index_length(file, &hdr);
	data = table->data = malloc(part.length + length);
	if (!data)
		return -ENOMEM;
	if (read_file_bytes(file, part.offset, data, part.length))
		return -EINVAL;
	in.cfi = (struct sfg_image) { data, part.length, part.addr };
	if (length && !read_file_bytes(file, hdr.p_offset, data + part.length,
				       length))
		in.index = (struct sfg_image) {
			data + part.length, length, hdr.p_vaddr,
		};
	return open_cfi(table, &in, &table->cfi);
}

/* .debug_frame: gcc -g writes it of code that has no .eh_frame, Go of all. */

static Elf_Scn *find_debug_frame(struct elf *file, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(file->elf, scn)))
		if (gelf_getshdr(scn, shdr) && shdr->sh_type != SHT_NOBITS &&
		    in_file(file, shdr->sh_offset, shdr->sh_size) &&
		    (named(file, shdr, ".debug_frame") ||
		     named(file, shdr, ".zdebug_frame")))
			return scn;
	return NULL;
}

/* libelf allocates what a header says, before it looks at the rest. */
static bool uncompress(struct elf *file, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	uint8_t head[12];
	uint64_t length = 0;
	GElf_Chdr chdr;
	size_t i;

	if (shdr->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &chdr) &&
		       chdr.ch_size <= MAX_DEBUG_FRAME &&
		       elf_compress(scn, 0, 0) >= 0;
	if (!named(file, shdr, ".zdebug_frame"))
		return shdr->sh_size <= MAX_DEBUG_FRAME;
	/* of old: "ZLIB" and the length, big-endian */
	if (shdr->sh_size < sizeof(head) ||
	    read_file_bytes(file, shdr->sh_offset, head, sizeof(head)))
		return false;
	for (i = 4; i < sizeof(head); i++)
		length = length << 8 | head[i];
	return length <= MAX_DEBUG_FRAME && elf_compress_gnu(scn, 0, 0) >= 0;
}

static Elf_Data *debug_frame(struct elf *file)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_debug_frame(file, &shdr);
	Elf_Data *data;

	if (!scn || !uncompress(file, scn, &shdr))
		return NULL;
	data = elf_rawdata(scn, NULL);
	return data && data->d_buf && data->d_size &&
	       data->d_size <= MAX_DEBUG_FRAME ? data : NULL;
}

static int use_debug_frame(struct elf *file, unsigned int abi,
			   struct table *table)
{
	struct sfg_input in = { .abi = abi, .flags = SFG_INPUT_DEBUG_FRAME };
	Elf_Data *data = debug_frame(file);

	if (!data)
		return -ENODATA;
	table->debug_data = malloc(data->d_size);
	if (!table->debug_data)
		return -ENOMEM;
	memcpy(table->debug_data, data->d_buf, data->d_size);
	in.cfi = (struct sfg_image) { table->debug_data, data->d_size, 0 };
	return open_cfi(table, &in, &table->debug);
}

static int add_segment(struct table *table, const GElf_Phdr *phdr)
{
	struct segment *more = reallocarray(table->segments,
					    table->nr_segments + 1,
					    sizeof(*more));

	if (!more)
		return -ENOMEM;
	table->segments = more;
	table->bytes += sizeof(*more);
	more[table->nr_segments++] = (struct segment) {
		phdr->p_offset, phdr->p_filesz, phdr->p_vaddr,
	};
	return 0;
}

static int read_segments(struct elf *file, struct table *table)
{
	size_t i, nr = nr_program_headers(file);
	GElf_Phdr phdr;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++)
		if (program_header(file, i, &phdr) && phdr.p_type == PT_LOAD &&
		    phdr.p_flags & PF_X)
			ret = add_segment(table, &phdr);
	return ret;
}

/*
 * Go's table of functions is in a section of its own. The linker of the system puts
 * it into one with other constants, and files may lack section headers: then all data
 * is searched.
 */

static struct sfg_image *text_segment_of(const struct table *table)
{
	struct sfg_image *text = calloc(table->nr_segments, sizeof(*text));
	unsigned int i;

	for (i = 0; text && i < table->nr_segments; i++) {
		text[i].addr = table->segments[i].addr;
		text[i].len = table->segments[i].length;
	}
	return text;
}

/* To be freed; NULL: it cannot be read. */
static void *read_section_image(const struct elf *file, const struct part *part,
				struct sfg_image *image)
{
	void *bytes = NULL;

	if (part->length && part->length <= MAX_GO)
		bytes = malloc(part->length);
	if (bytes && read_file_bytes(file, part->offset, bytes, part->length)) {
		free(bytes);
		bytes = NULL;
	}
	*image = (struct sfg_image) { bytes, part->length, part->addr };
	return bytes;
}

static bool find_data(struct elf *file, unsigned int flags, size_t *i,
		      struct part *part)
{
	size_t nr = nr_program_headers(file);
	GElf_Phdr phdr;

	while (*i < nr)
		if (program_header(file, (*i)++, &phdr) &&
		    phdr.p_type == PT_LOAD && phdr.p_flags & PF_R &&
		    !(phdr.p_flags & PF_X) &&
		    (phdr.p_flags & flags) == flags) {
			*part = (struct part) {
				phdr.p_offset, phdr.p_filesz, phdr.p_vaddr,
			};
			return true;
		}
	return false;
}

/* Where the text is: from Go 1.26 on writable data has it. */
static int open_go(struct elf *file, struct sfg_go_input *in,
		   __typeof__(sfg_open_go) *open, struct sfg_go *go)
{
	int ret = open(go, in, NULL);
	struct sfg_image data;
	struct part part;
	size_t i = 0;
	void *bytes;

	in->data = &data;
	in->nr_data = 1;
	while (ret == -ENOENT && find_data(file, PF_W, &i, &part)) {
		bytes = read_section_image(file, &part, &data);
		if (bytes)
			ret = open(go, in, NULL);
		free(bytes);
	}
	in->data = NULL;
	in->nr_data = 0;
	return ret;
}

/* Gives the table the bytes if they are Go's. */
static int use_go(struct elf *file, unsigned int abi, const struct part *part,
		  __typeof__(sfg_open_go) *open, struct table *table)
{
	struct sfg_image *text = text_segment_of(table);
	struct sfg_go_input in = {
		.abi = abi, .text = text, .nr_text = table->nr_segments,
	};
	void *bytes = read_section_image(file, part, &in.table);
	struct sfg_go *go = malloc(sizeof(*go));
	int ret = -ENOMEM;

	if (text && bytes && go)
		ret = open_go(file, &in, open, go);
	free(text);
	if (ret) {
		free(go);
		free(bytes);
		return ret;
	}
	table->go = go;
	table->go_data = bytes;
	table->bytes += sizeof(*go) + part->length;
	return 0;
}

static bool may_have_go(struct elf *file)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(file->elf, scn)))
		if (gelf_getshdr(scn, &shdr) &&
		    (named(file, &shdr, ".go.buildinfo") ||
		     named(file, &shdr, ".note.go.buildid")))
			return true;
	return !file->header.e_shnum;
}

static int read_go(struct elf *file, unsigned int abi, struct table *table)
{
	static const char *const names[] = {
		".gopclntab", ".data.rel.ro.gopclntab",
	};
	int ret = -ENOENT;
	struct part part;
	size_t i;

	if (!table->nr_segments)
		return ret;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (find_section(file, names[i], &part))
			return use_go(file, abi, &part, sfg_open_go, table);
	i = 0;
	while (ret == -ENOENT && may_have_go(file) &&
	       find_data(file, 0, &i, &part))
		ret = use_go(file, abi, &part, sfg_find_go, table);
	return ret;
}

/* One is enough: what the others lack is said of each address. */
static int read_rules(struct elf *file, unsigned int abi, struct table *table)
{
	int ret = use_eh_frame(file, abi, table), other;

	if (ret && ret != -ENODATA)
		return ret;
	other = use_debug_frame(file, abi, table);
	if (other == -ENOMEM)
		return other;
	if (ret)
		ret = other;
	return read_go(file, abi, table) ? ret : 0;
}

int elf_read_table(struct elf *file, unsigned int abi, struct table *table)
{
	int ret;

	table->bytes = sizeof(*table);
	table->entry = file->header.e_entry;
	ret = read_segments(file, table);
	if (!ret)
		ret = read_rules(file, abi, table);
	if (ret)
		table_clear(table);
	else
		table_count(table);
	return ret;
}
