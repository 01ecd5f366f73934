// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * walk-cfi ELF: evaluate each row of the file's .eh_frame with elfutils' libdw.
 *
 * This is the same work as reading the rows for a conversion, to compare times.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RBP	6
#define RIP	16

static void read_rules(Dwarf_Frame *frame)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	dwarf_frame_cfa(frame, &ops, &n);
	dwarf_frame_register(frame, RIP, mem, &ops, &n);
	dwarf_frame_register(frame, RBP, mem, &ops, &n);
}

static uint64_t walk_function(Dwarf_CFI *cfi, uint64_t pc, uint64_t end)
{
	Dwarf_Addr row_start, row_end;
	Dwarf_Frame *frame;
	uint64_t rows = 0;
	bool signal;

	for (; pc < end; pc = row_end, rows++) {
		if (dwarf_cfi_addrframe(cfi, pc, &frame))
			errx(1, "0x%" PRIx64 ": %s", pc, dwarf_errmsg(-1));
		dwarf_frame_info(frame, &row_start, &row_end, &signal);
		read_rules(frame);
		free(frame);
		if (row_end <= pc)
			errx(1, "0x%" PRIx64 ": empty row", pc);
	}
	return rows;
}

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, shdr) &&
		    !strcmp(elf_strptr(elf, strings, shdr->sh_name), name))
			return scn;
	return NULL;
}

/* The encoding in all files of bench/run: pc-relative, four bytes. */
static uint64_t walk_fde(Dwarf_CFI *cfi, const Dwarf_FDE *fde,
			 const Elf_Data *data, uint64_t addr)
{
	uint64_t at = addr + (fde->start - (const uint8_t *)data->d_buf);
	int32_t start;
	uint32_t size;

	memcpy(&start, fde->start, sizeof(start));
	memcpy(&size, fde->start + sizeof(start), sizeof(size));
	return walk_function(cfi, at + start, at + start + size);
}

static uint64_t walk(Elf *elf)
{
	Dwarf_Off off = 0, next;
	Dwarf_CFI_Entry entry;
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(elf, ".eh_frame", &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	const unsigned char *ident = (void *)elf_getident(elf, NULL);
	uint64_t rows = 0;
	int ret;

	if (!data || !cfi)
		errx(1, "no .eh_frame");
	for (; !(ret = dwarf_next_cfi(ident, data, true, off, &next, &entry));
	     off = next)
		if (!dwarf_cfi_cie_p(&entry))
			rows += walk_fde(cfi, &entry.fde, data, shdr.sh_addr);
	if (ret < 0)
		errx(1, "%s", dwarf_errmsg(-1));
	return rows;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	Elf *elf;

	if (fd < 0)
		err(2, "usage: walk-cfi ELF");
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		errx(1, "%s", elf_errmsg(-1));
	printf("%" PRIu64 " rows\n", walk(elf));
	return 0;
}
