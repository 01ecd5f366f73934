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

#include "elf_file.h"

/* Areas of .eh_frame_hdr and of SFrame have lengths of 32 bits. */
#define MAX_CFI		(1ULL << 31)
#define MAX_NOTES	(1 << 16)

static bool in_file(const struct elf *file, uint64_t offset, uint64_t length)
{
	return offset <= file->length && length <= file->length - offset;
}

/* -ENODATA: the file has become shorter. */
static int read_bytes(const struct elf *file, uint64_t offset, uint8_t *to,
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

static int check_header(struct elf *file, unsigned int abi)
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
	ret = check_header(file, abi);
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

static bool find_segment(struct elf *file, uint64_t addr, GElf_Phdr *phdr)
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

static bool read_header(struct elf *file, const GElf_Phdr *phdr, uint64_t *addr)
{
	uint8_t p[8];
	int32_t distance;

	if (phdr->p_filesz < sizeof(p) ||
	    read_bytes(file, phdr->p_offset, p, sizeof(p)) || p[0] != 1 ||
	    p[1] != PCREL_SDATA4)
		return false;
	distance = (uint32_t)p[4] | p[5] << 8 | p[6] << 16 |
		   (uint32_t)p[7] << 24;
	if (file->header.e_ident[EI_DATA] == ELFDATA2MSB)
		distance = __builtin_bswap32(distance);
	*addr = phdr->p_vaddr + 4 + distance;
	return true;
}

/*
 * Files without section headers: .eh_frame is read to the end of its segment,
 * and ends at its terminator.
 */
static bool find_by_header(struct elf *file, struct part *part)
{
	size_t i, nr = nr_program_headers(file);
	GElf_Phdr phdr;
	uint64_t addr, skip;

	for (i = 0; i < nr; i++)
		if (program_header(file, i, &phdr) &&
		    phdr.p_type == PT_GNU_EH_FRAME)
			break;
	if (i == nr || !read_header(file, &phdr, &addr) ||
	    !find_segment(file, addr, &phdr))
		return false;
	skip = addr - phdr.p_vaddr;
	*part = (struct part) {
		phdr.p_offset + skip, phdr.p_filesz - skip, addr,
	};
	return true;
}

static bool find_cfi(struct elf *file, struct part *part, unsigned int *flags)
{
	*flags = SFG_INPUT_ADDENDS;
	if (find_section(file, ".eh_frame", part) || find_by_header(file, part))
		return true;
	*flags |= SFG_INPUT_DEBUG_FRAME;
	return find_section(file, ".debug_frame", part);
}

static int open_cfi(struct table *table, unsigned int abi, unsigned int flags,
		    const struct part *part)
{
	struct sfg_input in = {
		.abi = abi, .flags = flags,
		.cfi = { table->data, part->length, part->addr },
	};
	int ret = sfg_open_cfi(&in, &table->cfi, NULL);

	if (ret)
		return ret == -ENOMEM ? ret : -EINVAL;
	table->bytes = sizeof(*table) + part->length +
		       sfg_cfi_memory(table->cfi);
	return 0;
}

static int read_cfi(struct elf *file, unsigned int abi, struct table *table)
{
	unsigned int flags;
	struct part part;
	int ret;

	if (!find_cfi(file, &part, &flags))
		return -ENODATA;
	if (part.length > MAX_CFI)
		return -EINVAL;
	table->data = malloc(part.length);
	if (!table->data)
		return -ENOMEM;
	ret = read_bytes(file, part.offset, table->data, part.length);
	return ret ? -EINVAL : open_cfi(table, abi, flags, &part);
}

/* More than a few segments of code no linker makes. */
static void read_segments(struct elf *file, struct table *table)
{
	size_t i, nr = nr_program_headers(file);
	GElf_Phdr phdr;

	for (i = 0; i < nr && table->nr_segments < TABLE_MAX_SEGMENTS; i++)
		if (program_header(file, i, &phdr) && phdr.p_type == PT_LOAD &&
		    phdr.p_flags & PF_X)
			table->segments[table->nr_segments++] =
				(struct segment) {
				phdr.p_offset, phdr.p_filesz, phdr.p_vaddr,
			};
}

int elf_read_table(struct elf *file, unsigned int abi, struct table *table)
{
	int ret;

	read_segments(file, table);
	ret = read_cfi(file, abi, table);
	if (ret)
		table_clear(table);
	return ret;
}
