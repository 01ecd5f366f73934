// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Reads the parts of ELF files that we use. libelf reads headers, names,
 * symbols and relocations; all with pread(), since a mapped file may shrink
 * while it is read.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "object.h"

int object_error(const struct object *f, uint64_t offset, int code,
		 const char *format, ...)
{
	va_list args;

	fputs("sframegen: ", stderr);
	print_name(stderr, f->path);
	fprintf(stderr, ": 0x%llx: ", (unsigned long long)offset);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

int object_no_memory(const struct object *f)
{
	return object_error(f, 0, -ENOMEM, "out of memory");
}

bool object_in_file(const struct object *f, uint64_t offset, uint64_t len)
{
	return offset <= f->len && len <= f->len - offset;
}

int object_read(const struct object *f, uint64_t offset, void *data,
		size_t len)
{
	int ret = file_read(f->fd, offset, data, len);

	if (!ret)
		return 0;
	return object_error(f, offset, ret, "%s", object_unread(ret));
}

const char *object_unread(int error)
{
	switch (error) {
	case -ENODATA:
		return "the file has become shorter";
	case -EFBIG:
		return "more than 4 GiB would be read";
	case -ENOMEM:
		return "out of memory";
	default:
		return strerror(-error);
	}
}

int object_try_load(struct object *f, uint64_t offset, uint64_t len,
		    uint8_t **data)
{
	uint8_t *p;
	int ret;

	if (len > f->left)
		return -EFBIG;
	p = file_alloc(len);
	if (!p)
		return -ENOMEM;
	f->left -= len;
	ret = file_read(f->fd, offset, p, len);
	if (ret)
		free(p);
	else
		*data = p;
	return ret;
}

int object_load(struct object *f, uint64_t offset, uint64_t len,
		uint8_t **data)
{
	int ret = object_try_load(f, offset, len, data);

	return ret ? object_error(f, offset, ret, "%s", object_unread(ret)) :
		     0;
}

/*
 * Refuse these before libelf reads more than e_ident. libelf also accepts
 * 32-bit files and archives (ar), which callers do not handle.
 */
static int check_ident(struct object *f)
{
	uint8_t ident[EI_NIDENT];
	int ret;

	if (f->len < EI_NIDENT)
		return object_error(f, 0, -EINVAL, "not an ELF file");
	ret = object_read(f, 0, ident, sizeof(ident));
	if (ret)
		return ret;
	if (memcmp(ident, ELFMAG, SELFMAG))
		return object_error(f, 0, -EINVAL, "not an ELF file");
	if (ident[EI_CLASS] != ELFCLASS64)
		return object_error(f, EI_CLASS, -EINVAL,
				    "not a 64-bit ELF file");
	if (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB)
		return object_error(f, EI_DATA, -EINVAL, "unknown byte order");
	if (f->len < sizeof(Elf64_Ehdr))
		return object_error(f, f->len, -EINVAL,
				    "ELF header is truncated");
	return 0;
}

bool object_is_big_endian(const struct object *f)
{
	return f->ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
}

/* Machines with 64-bit files, for messages. */
static const char *machine_name(unsigned int machine)
{
	static const struct { uint16_t machine; const char *name; } names[] = {
		{ EM_SPARCV9, "SPARC" }, { EM_MIPS, "MIPS" },
		{ EM_PARISC, "PA-RISC" }, { EM_PPC64, "PowerPC" },
		{ EM_S390, "S/390" }, { EM_IA_64, "Itanium" },
		{ EM_ALPHA, "Alpha" }, { EM_X86_64, "x86-64" },
		{ EM_AARCH64, "AArch64" }, { EM_CUDA, "CUDA" },
		{ EM_AMDGPU, "AMD GPUs" }, { EM_RISCV, "RISC-V" },
		{ EM_BPF, "BPF" }, { 258, "LoongArch" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return "an unknown machine";
}

static int check_elf_header(struct object *f)
{
	if (f->ehdr.e_type != ET_REL && f->ehdr.e_type != ET_EXEC &&
	    f->ehdr.e_type != ET_DYN)
		return object_error(f, offsetof(Elf64_Ehdr, e_type), -EINVAL,
				    "neither object, executable nor library");
	f->abi = sfg_abi_of_elf(f->ehdr.e_machine,
				f->ehdr.e_ident[EI_DATA]);
	if (!f->abi)
		return object_error(f, offsetof(Elf64_Ehdr, e_machine),
				    -ENOTSUP, "no SFrame ABI for %s (machine"
				    " %u, %s-endian)",
				    machine_name(f->ehdr.e_machine),
				    f->ehdr.e_machine,
				    object_is_big_endian(f) ? "big" : "little");
	return 0;
}

/*
 * From 0xff00 sections on, e_shnum is 0 and sh_size of the first section header
 * has the number. libelf reads it there, so that header must be in the file.
 */
static int check_section_table(struct object *f)
{
	uint64_t off = f->ehdr.e_shoff;

	if (off && !object_in_file(f, off, sizeof(Elf64_Shdr)))
		return object_error(f, offsetof(Elf64_Ehdr, e_shoff), -EINVAL,
				    "section headers are past the end");
	if (elf_getshdrnum(f->elf, &f->nr_sections))
		return object_error(f, off, -EINVAL, "%s", elf_errmsg(-1));
	if (!object_in_file(f, off, f->nr_sections * sizeof(Elf64_Shdr)))
		return object_error(f, off, -EINVAL,
				    "section headers are truncated");
	f->in_libelf = calloc(f->nr_sections + 1, sizeof(*f->in_libelf));
	return f->in_libelf ? 0 : object_no_memory(f);
}

/* elf_begin() fails without a call of elf_version(). */
static int open_elf(struct object *f)
{
	int ret = check_ident(f);

	if (ret)
		return ret;
	elf_version(EV_CURRENT);
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	if (!f->elf || !gelf_getehdr(f->elf, &f->ehdr))
		return object_error(f, 0, -EINVAL, "%s", elf_errmsg(-1));
	ret = check_elf_header(f);
	return ret ? ret : check_section_table(f);
}

int object_open_fd(struct object *f, const char *path, int fd, uint64_t len)
{
	memset(f, 0, sizeof(*f));
	f->path = path;
	f->fd = fd;
	f->len = len;
	f->left = MAX_READ;
	return fd < 0 ? fd : open_elf(f);
}

int object_open(struct object *f, const char *path)
{
	uint64_t len = 0;
	int fd = file_open_regular(path, &len);

	return object_open_fd(f, path, fd, len);
}

void object_try_abi(struct object *f)
{
	if (!sfg_abi_has_sframe(f->abi))
		f->abi = sfg_trial_abi(f->abi);
}

static void free_part(struct object_part *part)
{
	free(part->bytes);
	free(part->relocated);
}

/*
 * libelf reads lazily until the end, so close the file after it. Members that
 * object_open() did not reach are 0, which free() accepts.
 */
void object_close(struct object *f)
{
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free_part(&f->cfi);
	free_part(&f->debug_frame);
	free_part(&f->sframe);
	while (f->nr_go_bytes)
		free(f->go_bytes[--f->nr_go_bytes]);
	free(f->in_libelf);
	free(f->section_addr);
	free(f->functions);
	free(f->entries);
	free(f->no_return);
	free(f->code);
	free(f->segments);
	free(f->text);
	free(f->window);
}

/* libelf gives section headers in the byte order of this machine. */
bool object_section(struct object *f, size_t index, GElf_Shdr *shdr)
{
	Elf_Scn *scn = index < f->nr_sections ? elf_getscn(f->elf, index) :
						NULL;

	return scn && gelf_getshdr(scn, shdr);
}

/* Whether libelf may read it. libelf keeps what it read. */
static bool may_read(struct object *f, size_t index, const GElf_Shdr *shdr)
{
	if (f->in_libelf[index])
		return true;
	if (!object_in_file(f, shdr->sh_offset, shdr->sh_size) ||
	    shdr->sh_size > f->left)
		return false;
	f->left -= shdr->sh_size;
	f->in_libelf[index] = true;
	return true;
}

Elf_Data *object_section_data(struct object *f, size_t index, uint32_t type)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_getscn(f->elf, index);

	/* for another type libelf would convert the bytes */
	if (!scn || !gelf_getshdr(scn, &shdr) || shdr.sh_type != type ||
	    !may_read(f, index, &shdr))
		return NULL;
	return elf_getdata(scn, NULL);
}

/* zlib compresses no further than this (its zlib_tech.html). */
#define MOST_COMPRESSION	1032

bool object_is_compressed(struct object *f, size_t index,
			  const GElf_Shdr *shdr)
{
	Elf_Scn *scn = elf_getscn(f->elf, index);
	size_t names;
	const char *name;

	if (shdr->sh_flags & SHF_COMPRESSED)
		return true;
	if (!scn || elf_getshdrstrndx(f->elf, &names))
		return false;
	name = object_string(f, names, shdr->sh_name);
	return !strncmp(name, ".zdebug", strlen(".zdebug"));
}

/* "ZLIB" and 64 bits, big-endian. */
static uint64_t old_size(struct object *f, const GElf_Shdr *shdr)
{
	uint8_t p[12];
	uint64_t size = 0;
	unsigned int i;

	if (shdr->sh_size < sizeof(p) ||
	    file_read(f->fd, shdr->sh_offset, p, sizeof(p)) ||
	    memcmp(p, "ZLIB", 4))
		return 0;
	for (i = 4; i < sizeof(p); i++)
		size = size << 8 | p[i];
	return size;
}

/*
 * Returns the uncompressed size from its header, which libelf allocates. 0:
 * unknown.
 */
static uint64_t expanded_size(struct object *f, Elf_Scn *scn,
			      const GElf_Shdr *shdr)
{
	GElf_Chdr chdr;

	if (!(shdr->sh_flags & SHF_COMPRESSED))
		return old_size(f, shdr);
	return gelf_getchdr(scn, &chdr) ? chdr.ch_size : 0;
}

/* libelf keeps its copy up to object_close(). */
int object_decompress(struct object *f, size_t index, const GElf_Shdr *shdr,
		      uint8_t **data, uint64_t *len, const char **why)
{
	Elf_Scn *scn = elf_getscn(f->elf, index);
	uint64_t size;
	Elf_Data *d;

	*why = object_unread(-EFBIG);
	if (!scn || !may_read(f, index, shdr))
		return -EFBIG;
	*why = "is compressed and damaged, or in a way that libelf cannot read";
	size = expanded_size(f, scn, shdr);
	if (!size || size / MOST_COMPRESSION > shdr->sh_size)
		return -EINVAL;
	*why = object_unread(-EFBIG);
	if (size > f->left / 2)
		return -EFBIG;
	*why = "is compressed and damaged, or in a way that libelf cannot read";
	if ((shdr->sh_flags & SHF_COMPRESSED ? elf_compress(scn, 0, 0) :
					       elf_compress_gnu(scn, 0, 0)) < 0)
		return -EINVAL;
	d = elf_rawdata(scn, NULL);
	if (!d || d->d_size != size)
		return -EINVAL;
	f->left -= 2 * size;
	*why = object_unread(-ENOMEM);
	*data = file_alloc(size);
	if (!*data)
		return -ENOMEM;
	memcpy(*data, d->d_buf, size);
	*len = size;
	*why = NULL;
	return 0;
}

const char *object_string(struct object *f, size_t index, uint64_t offset)
{
	Elf_Data *data;
	GElf_Shdr shdr;
	const char *strings;

	if (!object_section(f, index, &shdr) || shdr.sh_type != SHT_STRTAB ||
	    !may_read(f, index, &shdr))
		return "";
	data = elf_rawdata(elf_getscn(f->elf, index), NULL);
	if (!data || offset >= data->d_size)
		return "";
	/* strings end inside their table if its last byte is 0 */
	strings = data->d_buf;
	return strings[data->d_size - 1] ? "" : strings + offset;
}
