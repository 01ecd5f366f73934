// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "elf_note.h"

/* More notes than these are not read. */
#define NOTES_MOST	(16U << 10)

static size_t padded(uint64_t length, size_t align)
{
	return (length + align - 1) & ~(uint64_t)(align - 1);
}

static bool take_note(const uint8_t *name, const Elf64_Nhdr *note,
		      size_t align, struct perfdata_build_id *id)
{
	if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 ||
	    memcmp(name, "GNU", 4) || !note->n_descsz ||
	    note->n_descsz > sizeof(id->bytes))
		return false;
	id->length = note->n_descsz;
	memcpy(id->bytes, name + padded(4, align), id->length);
	return true;
}

/* Headers of notes are the same for 32 and 64 bits. */
static void read_notes(const uint8_t *at, size_t left, size_t align,
		       struct perfdata_build_id *id)
{
	Elf64_Nhdr note;
	uint64_t length;

	while (left >= sizeof(note)) {
		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		left -= sizeof(note);
		length = (uint64_t)padded(note.n_namesz, align) +
			 note.n_descsz;
		if (length > left || take_note(at, &note, align, id))
			return;
		length = padded(length, align);
		if (length > left)
			return;
		at += length;
		left -= length;
	}
}

static void read_segment(int fd, const GElf_Phdr *phdr,
			 struct perfdata_build_id *id)
{
	uint8_t notes[NOTES_MOST];
	ssize_t n;

	if (phdr->p_filesz > sizeof(notes))
		return;
	n = pread(fd, notes, phdr->p_filesz, phdr->p_offset);
	if (n > 0)
		read_notes(notes, n, phdr->p_align == 8 ? 8 : 4, id);
}

void elf_note_of_file(int fd, struct perfdata_build_id *id)
{
	GElf_Phdr phdr;
	size_t i, nr;
	Elf *elf;

	id->length = 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return;
	if (elf_kind(elf) == ELF_K_ELF && !elf_getphdrnum(elf, &nr))
		for (i = 0; i < nr && !id->length; i++)
			if (gelf_getphdr(elf, i, &phdr) &&
			    phdr.p_type == PT_NOTE)
				read_segment(fd, &phdr, id);
	elf_end(elf);
}

void elf_note_of_kernel(struct perfdata_build_id *id)
{
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	uint8_t notes[NOTES_MOST];
	ssize_t n;

	id->length = 0;
	if (fd < 0)
		return;
	n = read(fd, notes, sizeof(notes));
	if (n > 0)
		read_notes(notes, n, 4, id);
	close(fd);
}
