// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_alloc.h"
#include "elf_map.h"
#include "program.h"

#define MOST_MEMORY	(1ULL << 36)

struct file {
	int fd;
	uint64_t size;
	const ElfW(Phdr) *phdr;
	unsigned int nr;
	uint64_t start, end;	/* of all segments, in pages */
};

static uint64_t page_down(uint64_t address)
{
	return address & -sysconf(_SC_PAGESIZE);
}

/* Of the file, with an address that fits the place, and not too far up. */
static bool is_sane(const struct file *file, const ElfW(Phdr) *ph)
{
	uint64_t mask = sysconf(_SC_PAGESIZE) - 1;

	return ph->p_filesz <= ph->p_memsz && ph->p_offset <= file->size &&
	       ph->p_filesz <= file->size - ph->p_offset &&
	       !((ph->p_vaddr - ph->p_offset) & mask) &&
	       ph->p_vaddr <= UINT64_MAX / 2 && ph->p_memsz <= MOST_MEMORY;
}

static bool measure(struct file *file)
{
	const ElfW(Phdr) *ph;

	file->start = UINT64_MAX;
	for (ph = file->phdr; ph < file->phdr + file->nr; ph++) {
		if (ph->p_type != PT_LOAD)
			continue;
		if (!is_sane(file, ph))
			return false;
		if (page_down(ph->p_vaddr) < file->start)
			file->start = page_down(ph->p_vaddr);
		if (ph->p_vaddr + ph->p_memsz > file->end)
			file->end = ph->p_vaddr + ph->p_memsz;
	}
	return file->start < file->end &&
	       file->end - file->start <= MOST_MEMORY;
}

static int read_headers(struct file *file)
{
	ElfW(Phdr) *phdr;
	ElfW(Ehdr) eh;
	size_t size;

	if (pread(file->fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) || !program_is_native(&eh))
		return -ENOEXEC;
	/* Of the size that is known here; there are at most 65,535. */
	if (eh.e_phentsize != sizeof(*phdr))
		return -ENOEXEC;
	size = eh.e_phnum * sizeof(*phdr);
	phdr = check_alloc(malloc(size + 1));
	file->phdr = phdr;
	file->nr = eh.e_phnum;
	if (pread(file->fd, phdr, size, eh.e_phoff) != (ssize_t)size ||
	    !measure(file))
		return -ENOEXEC;
	return 0;
}

static int map_segments(const struct file *file, uintptr_t bias)
{
	const ElfW(Phdr) *ph;

	for (ph = file->phdr; ph < file->phdr + file->nr; ph++) {
		uint64_t start = page_down(ph->p_vaddr);
		uint64_t skipped = ph->p_vaddr - start;

		if (ph->p_type != PT_LOAD || !ph->p_filesz)
			continue;
		if (mmap((void *)(bias + start), ph->p_filesz + skipped,
			 PROT_READ, MAP_PRIVATE | MAP_FIXED, file->fd,
			 ph->p_offset - skipped) == MAP_FAILED)
			return -errno;
	}
	return 0;
}

static int map_file(struct file *file, struct dl_phdr_info *info)
{
	int ret = read_headers(file);
	void *memory;

	if (ret)
		return ret;
	memory = mmap(NULL, file->end - file->start, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	info->dlpi_addr = (uintptr_t)memory - file->start;
	info->dlpi_phdr = file->phdr;
	info->dlpi_phnum = file->nr;
	return map_segments(file, info->dlpi_addr);
}

int elf_map(const char *path, struct dl_phdr_info *info)
{
	struct file file = { .nr = 0 };
	struct stat st;
	int ret;

	/* O_NONBLOCK: it may be a FIFO. */
	file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file.fd < 0)
		return -errno;
	ret = fstat(file.fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -ENOEXEC;
	if (!ret) {
		file.size = st.st_size;
		info->dlpi_name = path;
		ret = map_file(&file, info);
	}
	close(file.fd);
	return ret;
}
