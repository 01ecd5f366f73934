// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Reads ELF files. libelf finds headers and sections; every byte of content
 * is taken from the file's own copy, after a check that it is there.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "object.h"

#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND	0x70000001
#endif

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

/* Refused before libelf looks at more than the identification. */
static int check_ident(struct object *f)
{
	if (f->len < EI_NIDENT || memcmp(f->data, ELFMAG, SELFMAG))
		return object_error(f, 0, -EINVAL, "not an ELF file");
	if (f->data[EI_CLASS] != ELFCLASS64)
		return object_error(f, EI_CLASS, -EINVAL,
				    "not a 64-bit ELF file");
	if (f->data[EI_DATA] != ELFDATA2LSB && f->data[EI_DATA] != ELFDATA2MSB)
		return object_error(f, EI_DATA, -EINVAL, "unknown byte order");
	if (f->len < sizeof(Elf64_Ehdr))
		return object_error(f, f->len, -EINVAL,
				    "ELF header is truncated");
	return 0;
}

static int check_header(struct object *f)
{
	if (f->ehdr.e_type != ET_REL && f->ehdr.e_type != ET_EXEC &&
	    f->ehdr.e_type != ET_DYN)
		return object_error(f, offsetof(Elf64_Ehdr, e_type), -EINVAL,
				    "neither object, executable nor library");
	f->abi = sfg_abi_of_elf(f->ehdr.e_machine, f->data[EI_DATA]);
	if (!f->abi)
		return object_error(f, offsetof(Elf64_Ehdr, e_machine),
				    -ENOTSUP, "no SFrame ABI for machine %u",
				    f->ehdr.e_machine);
	return 0;
}

bool object_in_file(const struct object *f, uint64_t offset, uint64_t len)
{
	return offset <= f->len && len <= f->len - offset;
}

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
	return 0;
}

static int open_elf(struct object *f)
{
	int ret = check_ident(f);

	if (ret)
		return ret;
	elf_version(EV_CURRENT);
	f->elf = elf_memory((char *)f->data, f->len);
	if (!f->elf || !gelf_getehdr(f->elf, &f->ehdr))
		return object_error(f, 0, -EINVAL, "%s", elf_errmsg(-1));
	ret = check_header(f);
	return ret ? ret : check_section_table(f);
}

int object_open(struct object *f, const char *path)
{
	int ret;

	memset(f, 0, sizeof(*f));
	f->path = path;
	ret = read_whole_file(path, &f->data, &f->len);
	return ret ? ret : open_elf(f);
}

void object_close(struct object *f)
{
	if (f->elf)
		elf_end(f->elf);
	free(f->cfi.relocated);
	free(f->sframe.relocated);
	free(f->section_addr);
	free(f->functions);
	free(f->text);
	free(f->data);
}

bool object_section(struct object *f, size_t index, GElf_Shdr *shdr)
{
	Elf_Scn *scn = index < f->nr_sections ? elf_getscn(f->elf, index) :
						NULL;

	return scn && gelf_getshdr(scn, shdr);
}

Elf_Data *object_section_data(struct object *f, size_t index, uint32_t type)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_getscn(f->elf, index);

	/* of another type, libelf would convert what nobody asked for */
	if (!scn || !gelf_getshdr(scn, &shdr) || shdr.sh_type != type ||
	    !object_in_file(f, shdr.sh_offset, shdr.sh_size))
		return NULL;
	return elf_getdata(scn, NULL);
}

const char *object_string(struct object *f, size_t index, uint64_t offset)
{
	GElf_Shdr shdr;

	if (!object_section(f, index, &shdr) || shdr.sh_type != SHT_STRTAB ||
	    !object_in_file(f, shdr.sh_offset, shdr.sh_size))
		return "";
	/* strings end inside of their table if its last byte is an end */
	if (offset >= shdr.sh_size ||
	    f->data[shdr.sh_offset + shdr.sh_size - 1])
		return "";
	return (const char *)f->data + shdr.sh_offset + offset;
}
