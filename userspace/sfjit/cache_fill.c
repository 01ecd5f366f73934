// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Makes tables: by the module that makes them in programs, in a child. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../preload/make_table.h"
#include "cache.h"
#include "commands.h"
#include "library.h"
#include "program.h"
#include "util.h"

#define MOST_MEMORY	(1ULL << 36)

struct file {
	int fd;
	uint64_t size;
	const ElfW(Phdr) *phdr;
	unsigned int nr;
	uint64_t start, end;	/* of all segments, in pages */
};

static uint64_t page_start(uint64_t address)
{
	return address & -sysconf(_SC_PAGESIZE);
}

/* Of the file, with an address that fits the place, and not too far up. */
static bool is_sane_segment(const struct file *file, const ElfW(Phdr) *ph)
{
	uint64_t mask = sysconf(_SC_PAGESIZE) - 1;

	return ph->p_filesz <= ph->p_memsz && ph->p_offset <= file->size &&
	       ph->p_filesz <= file->size - ph->p_offset &&
	       !((ph->p_vaddr - ph->p_offset) & mask) &&
	       ph->p_vaddr <= UINT64_MAX / 2 && ph->p_memsz <= MOST_MEMORY;
}

static bool measure_segments(struct file *file)
{
	const ElfW(Phdr) *ph;

	file->start = UINT64_MAX;
	for (ph = file->phdr; ph < file->phdr + file->nr; ph++) {
		if (ph->p_type != PT_LOAD)
			continue;
		if (!is_sane_segment(file, ph))
			return false;
		if (page_start(ph->p_vaddr) < file->start)
			file->start = page_start(ph->p_vaddr);
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
	    !measure_segments(file))
		return -ENOEXEC;
	return 0;
}

static int map_segments(const struct file *file, uintptr_t bias)
{
	const ElfW(Phdr) *ph;

	for (ph = file->phdr; ph < file->phdr + file->nr; ph++) {
		uint64_t start = page_start(ph->p_vaddr);
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

static int map_elf_file(struct file *file, struct dl_phdr_info *info)
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

/*
 * An ELF file in memory, to be read as if ld.so had loaded it.
 *
 * Readable only, and without what is beyond the file. Nothing is run, and the
 * file may be of anybody; but reading ends the program if it is cut short
 * meanwhile. Stays mapped. Returns 0 or -errno; -ENOEXEC: not ELF, of another
 * machine, or malformed.
 */
static int elf_map(const char *path, struct dl_phdr_info *info)
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
		ret = map_elf_file(&file, info);
	}
	close(file.fd);
	return ret;
}

static __typeof__(__sfjit_fill_cache) *preload_fill;

struct attempt {
	enum cache cache;
	const char *path;	/* NULL: the vDSO */
	struct fill fill;
	int error;
};

static int fill_vdso(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned long header = getauxval(AT_SYSINFO_EHDR);
	struct attempt *attempt = arg;

	if (!header || info->dlpi_addr + info->dlpi_phdr->p_vaddr != header)
		return 0;
	attempt->error = preload_fill(info, attempt->cache, &attempt->fill);
	return 1;
}

static void fill_in_child(void *trial)
{
	struct attempt *attempt = trial;
	struct dl_phdr_info info = { .dlpi_phnum = 0 };

	if (!attempt->path) {
		dl_iterate_phdr(fill_vdso, attempt);
		return;
	}
	attempt->error = elf_map(attempt->path, &info);
	attempt->fill.reason = attempt->error == -ENOEXEC ?
			       "is not ELF of this machine" : "cannot be read";
	if (!attempt->error)
		attempt->error = preload_fill(&info, attempt->cache,
					      &attempt->fill);
}

static int report_attempt(const struct attempt *attempt, int signal)
{
	const char *path = attempt->path ?: "[vdso]";
	int error = attempt->error;

	fflush(stdout);
	/* Code of others may have no table, and directories other files. */
	if (!signal && (error == -ENOENT || error == -ENOEXEC))
		printf("none   %10s %s: %s\n", "-", path, attempt->fill.reason);
	else if (signal)
		fprintf(stderr, "sfjit: %s: %s\n", path, strsignal(signal));
	else if (error)
		fprintf(stderr, "sfjit: %s: %s: %s\n", path,
			attempt->fill.reason, strerror(-error));
	else if (!attempt->fill.is_there)
		fprintf(stderr, "sfjit: %s: its table cannot be written\n",
			path);
	else
		printf("%s  %10zu %s\n", attempt->fill.was_there ? "there" :
		       "made ", attempt->fill.length, path);
	return signal || (error && error != -ENOENT && error != -ENOEXEC) ||
	       (!error && !attempt->fill.is_there);
}

static int fill_one(enum cache cache, const char *path, struct names *tables)
{
	struct attempt attempt = {
		.cache = cache, .path = path, .error = -ENOENT,
		.fill = { .reason = "there is none" },
	};
	int signal = child_try(fill_in_child, &attempt, sizeof(attempt));

	if (!signal && !attempt.error)
		names_add(tables, attempt.fill.name.data);
	return report_attempt(&attempt, signal);
}

int cache_fill(enum cache cache, const struct names *files,
	       struct names *tables)
{
	char module[PATH_MAX];
	int ret = 0;
	size_t i;

	preload_fill = (__typeof__(preload_fill))library_function(FILL_SYMBOL,
								  module);
	if (!preload_fill)
		return EXIT_OURS;
	for (i = 0; i < files->nr; i++)
		ret |= fill_one(cache, files->name[i], tables);
	/* Each program has these, too. */
	ret |= fill_one(cache, module, tables);
	return ret | fill_one(cache, NULL, tables);
}
