// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "library.h"
#include "make_table.h"
#include "plan.h"
#include "program.h"
#include "remote.h"
#include "util.h"

#define MOST_MEMORY	(1ULL << 36)
#define MOST_NOTES	(64UL << 10)
#define MOST_DYNAMIC	(64UL << 10)
#define INDEX_HEAD	64	/* bytes of .eh_frame_hdr before its table */

static __typeof__(__sfjit_make_table) *make_table;

/* A module of the process, and the local copy. */
struct source {
	pid_t pid;
	const ElfW(Phdr) *phdr;
	unsigned int nr;
	uint64_t bias;
	uint64_t start, length;	/* of all segments, at link-time addresses */
	char *copy;
	const struct ps_map *map;	/* of the ELF headers */
};

static uint64_t page_down(uint64_t address)
{
	return address & -sysconf(_SC_PAGESIZE);
}

static bool measure(struct source *s)
{
	const ElfW(Phdr) *ph;
	uint64_t end = 0;

	s->start = UINT64_MAX;
	for (ph = s->phdr; ph < s->phdr + s->nr; ph++) {
		if (ph->p_type != PT_LOAD)
			continue;
		/* Refuse segments that wrap around or are too long. */
		if (ph->p_vaddr > UINT64_MAX / 2 || ph->p_memsz > MOST_MEMORY ||
		    ph->p_filesz > ph->p_memsz)
			return false;
		if (page_down(ph->p_vaddr) < s->start)
			s->start = page_down(ph->p_vaddr);
		if (ph->p_vaddr + ph->p_memsz > end)
			end = ph->p_vaddr + ph->p_memsz;
	}
	s->length = end - s->start;
	return s->start < end && s->length <= MOST_MEMORY;
}

/* The mapping of offset 0 of a file holds the ELF headers. */
static bool find_bias(struct source *s, uint64_t start)
{
	const ElfW(Phdr) *ph;

	for (ph = s->phdr; ph < s->phdr + s->nr; ph++)
		if (ph->p_type == PT_LOAD && !page_down(ph->p_offset)) {
			s->bias = start - page_down(ph->p_vaddr);
			return true;
		}
	return false;
}

/* NULL: not a program or library. */
static ElfW(Phdr) *read_headers(struct source *s, const struct ps_map *map)
{
	ElfW(Phdr) *phdr;
	ElfW(Ehdr) eh;
	size_t size;

	if (remote_read(s->pid, map->start, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) || !program_is_native(&eh) ||
	    eh.e_phentsize != sizeof(*phdr))
		return NULL;
	size = eh.e_phnum * sizeof(*phdr);
	/* The program headers must be inside the mapping. */
	if (eh.e_phoff > map->end - map->start ||
	    size > map->end - map->start - eh.e_phoff)
		return NULL;
	phdr = check_alloc(malloc(size + 1));
	s->phdr = phdr;
	s->nr = eh.e_phnum;
	if (!remote_read(s->pid, map->start + eh.e_phoff, phdr, size) &&
	    measure(s) && find_bias(s, map->start))
		return phdr;
	free(phdr);
	return NULL;
}

static int copy_part(const struct source *s, uint64_t address, size_t length)
{
	/* Inside the segments only. */
	if (address < s->start || address - s->start > s->length ||
	    length > s->length - (address - s->start))
		return -EFAULT;
	return remote_read(s->pid, s->bias + address,
			   s->copy + (address - s->start), length);
}

/*
 * Copies the build-id and the head of .eh_frame_hdr, which identify the module.
 */
static void copy_identity(const struct source *s)
{
	const ElfW(Phdr) *ph;

	for (ph = s->phdr; ph < s->phdr + s->nr; ph++) {
		if (ph->p_type == PT_NOTE && ph->p_filesz <= MOST_NOTES)
			copy_part(s, ph->p_vaddr, ph->p_filesz);
		if (ph->p_type == PT_GNU_EH_FRAME)
			copy_part(s, ph->p_vaddr, ph->p_filesz < INDEX_HEAD ?
				  ph->p_filesz : INDEX_HEAD);
	}
}

/* Without PT_GNU_EH_FRAME all segments are copied and searched. */
static bool names_cfi(const struct source *s)
{
	const ElfW(Phdr) *ph;

	for (ph = s->phdr; ph < s->phdr + s->nr; ph++)
		if (ph->p_type == PT_GNU_EH_FRAME)
			return true;
	return false;
}

/*
 * Copies code and constants; of writable data, the dynamic section, which says
 * where code begins and ends. Programs that may have no table but Go's may have the
 * address of its code in any.
 */
static int copy_all(const struct source *s)
{
	const ElfW(Phdr) *ph;
	int ret = 0;

	for (ph = s->phdr; ph < s->phdr + s->nr && !ret; ph++) {
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_R &&
		    !(ph->p_flags & PF_W))
			ret = copy_part(s, ph->p_vaddr, ph->p_filesz);
		else if (ph->p_type == PT_LOAD && !names_cfi(s))
			copy_part(s, ph->p_vaddr, ph->p_filesz);
		if (ph->p_type == PT_DYNAMIC && ph->p_filesz <= MOST_DYNAMIC)
			copy_part(s, ph->p_vaddr, ph->p_filesz);
	}
	return ret;
}

/*
 * A process of another user or mount namespace must not write to the cache that
 * our own programs use.
 */
static enum table_effort effort_for(pid_t pid)
{
	struct stat process, theirs, ours;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &process) || process.st_uid != geteuid())
		return TABLE_MAKE;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	if (stat(path, &theirs) || stat("/proc/self/ns/mnt", &ours) ||
	    theirs.st_ino != ours.st_ino)
		return TABLE_MAKE;
	return TABLE_KEEP;
}

/* O_NONBLOCK: by its name it may be a FIFO by now. */
static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static bool is_mapped_file(int file, const struct ps_map *map)
{
	struct stat st;

	return !fstat(file, &st) && S_ISREG(st.st_mode) &&
	       st.st_ino == map->inode && major(st.st_dev) == map->major &&
	       minor(st.st_dev) == map->minor;
}

/*
 * Root may open the file of a mapping. Others find it by its name, which may be
 * that of another one by now.
 */
static int open_mapped(const struct source *s)
{
	const struct ps_map *map = s->map;
	char path[PATH_MAX];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 s->pid, map->start, map->end);
	file = open_file(path);
	if (file >= 0 || snprintf(path, sizeof(path), "/proc/%d/root%s",
				  s->pid, map->name) >= PATH_MAX)
		return file;
	file = open_file(path);
	if (file < 0 || is_mapped_file(file, map))
		return file;
	close(file);
	return -1;
}

static int make_from_copy(const struct source *s, struct planned *module)
{
	struct dl_phdr_info info = {
		.dlpi_addr = (uintptr_t)s->copy - s->start,
		.dlpi_name = module->name,
		.dlpi_phdr = s->phdr,
		.dlpi_phnum = s->nr,
	};
	int ret = -ENOENT, file = -1;

	copy_identity(s);
	if (names_cfi(s))
		ret = make_table(&info, -1, TABLE_FIND, &module->table,
				 &module->reason);
	if (ret != -ENOENT)
		return ret;
	module->reason = "cannot be read";
	ret = copy_all(s);
	if (ret)
		return ret;
	/* Its CFI may be in .debug_frame, which is not mapped. */
	if (!names_cfi(s))
		file = open_mapped(s);
	ret = make_table(&info, file, effort_for(s->pid), &module->table,
			 &module->reason);
	if (file >= 0)
		close(file);
	return ret;
}

static bool is_text(const struct ps_map *map, const char *name)
{
	return map && map->permissions[2] == 'x' &&
	       (!strcmp(map->name, name) || !strcmp(map->name, "[anon]"));
}

/* Another mapping may have replaced a part of it. */
static bool is_mapped(const struct plan *plan, const struct planned *module,
		      const struct window *window)
{
	uint64_t at = module->bias + window->start, end = at + window->length;
	const struct ps_map *map;

	while (at < end) {
		map = ps_find_map(&plan->maps, at);
		if (!is_text(map, module->name))
			return false;
		at = map->end;
	}
	return true;
}

static void drop_unmapped(const struct plan *plan, struct planned *module)
{
	struct table *t = &module->table;
	struct window *windows = table_windows(t);
	uint32_t i, nr = 0;

	for (i = 0; i < t->nr_windows; i++)
		if (is_mapped(plan, module, &windows[i]))
			windows[nr++] = windows[i];
	if (!nr)
		module->reason = "its text is not mapped";
	t->nr_windows = nr;
}

static void make_module(const struct plan *plan, struct source *s,
			struct planned *module)
{
	module->bias = s->bias;
	s->copy = mmap(NULL, s->length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	module->reason = "out of memory";
	if (s->copy == MAP_FAILED)
		return;
	if (make_from_copy(s, module))
		module->table.nr_windows = 0;
	else
		drop_unmapped(plan, module);
	munmap(s->copy, s->length);
}

static bool is_module(const struct ps_map *map)
{
	return !map->offset && map->permissions[0] == 'r' &&
	       (map->name[0] == '/' || !strcmp(map->name, "[vdso]"));
}

static void add_module(struct plan *plan, const struct ps_map *map)
{
	struct source s = { .pid = plan->pid, .map = map };
	struct planned module = { .name = map->name };
	ElfW(Phdr) *phdr = read_headers(&s, map);

	if (!phdr)
		return;
	make_module(plan, &s, &module);
	free(phdr);
	plan->modules = check_alloc(reallocarray(plan->modules, plan->nr + 1,
						 sizeof(module)));
	plan->modules[plan->nr++] = module;
}

static uint64_t find_call(pid_t pid, const struct ps_map *map)
{
	size_t length = map->end - map->start;
	uint8_t *text, *found = NULL;
	uint64_t code;

	text = check_alloc(malloc(length));
	if (!remote_read(pid, map->start, text, length))
		found = memmem(text, length, registers_call_code,
			       sizeof(registers_call_code));
	code = found ? map->start + (found - text) : 0;
	free(text);
	return code;
}

/* The vDSO has a system call instruction. Skip large files. */
uint64_t plan_find_call(pid_t pid, const struct ps_maps *maps)
{
	const struct ps_map *map;
	uint64_t code = 0;

	for (map = maps->maps + maps->nr; !code && map-- > maps->maps; )
		if (map->permissions[2] == 'x' && map->permissions[0] == 'r' &&
		    map->end - map->start <= 64UL << 20)
			code = find_call(pid, map);
	return code;
}

int plan_make(struct plan *plan, pid_t pid)
{
	char path[PATH_MAX];
	size_t i;
	int ret;

	*plan = (struct plan) { .pid = pid };
	make_table = (__typeof__(make_table))library_function(TABLE_SYMBOL,
							      path);
	if (!make_table)
		return 1;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	ret = ps_read_maps(&plan->maps, path);
	if (ret)
		return ret;
	for (i = 0; i < plan->maps.nr; i++)
		if (is_module(&plan->maps.maps[i]))
			add_module(plan, &plan->maps.maps[i]);
	plan->code = plan_find_call(pid, &plan->maps);
	return 0;
}

static void free_table(const struct table *table)
{
	if (table->data)
		munmap(table->data, table->mapped);
	if (table->many)
		munmap(table->many, table->many_mapped);
}

void plan_free(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr; i++)
		free_table(&plan->modules[i].table);
	free(plan->modules);
	ps_free_maps(&plan->maps);
	*plan = (struct plan) { .pid = 0 };
}

/* Anonymous code is a JIT's, which maps and unmaps it all the time. */
static const struct ps_map *next_code(const struct ps_maps *maps, size_t *i)
{
	const struct ps_map *map;

	while (*i < maps->nr) {
		map = &maps->maps[(*i)++];
		if (map->permissions[2] == 'x' && strcmp(map->name, "[anon]"))
			return map;
	}
	return NULL;
}

bool plan_is_current(const struct plan *plan, const struct ps_maps *maps)
{
	const struct ps_map *old, *new;
	size_t i = 0, j = 0;

	do {
		old = next_code(&plan->maps, &i);
		new = next_code(maps, &j);
		if (!old || !new)
			return old == new;
	} while (old->start == new->start && old->end == new->end &&
		 old->offset == new->offset && !strcmp(old->name, new->name));
	return false;
}
