// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libc.h"
#include "sys.h"

/*
 * DT_GNU_HASH: four numbers, a Bloom filter, buckets with the number of the
 * first symbol of each, and for each symbol its hash, with bit 0 set in the
 * last of a bucket. Everything is taken only from inside a readable segment.
 */

#define WORD_BITS	(8 * sizeof(ElfW(Addr)))

struct hash_header {
	uint32_t buckets, first, filter_words, filter_shift;
};

struct symbols {
	const struct dl_phdr_info *info;
	uintptr_t table, strings, hash;
	size_t strings_length;
	struct hash_header h;
	uintptr_t buckets, chains;
};

/* 'length' bytes at an address of this process, which may not be there. */
static const void *module_bytes(const struct dl_phdr_info *info, uintptr_t addr,
				size_t length)
{
	const ElfW(Phdr) *ph;
	uintptr_t start;

	for (ph = info->dlpi_phdr; ph < info->dlpi_phdr + info->dlpi_phnum;
	     ph++) {
		start = info->dlpi_addr + ph->p_vaddr;
		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_R) &&
		    addr >= start && addr - start <= ph->p_memsz &&
		    length <= ph->p_memsz - (addr - start))
			return (const void *)addr;
	}
	return NULL;
}

static bool read_word(const struct symbols *s, uintptr_t addr, uint32_t *n)
{
	const void *p = module_bytes(s->info, addr, sizeof(*n));

	if (p)
		memcpy(n, p, sizeof(*n));
	return p;
}

/* ld.so has added the bias where it can write the section (not in the vDSO). */
static uintptr_t loaded_address(const struct dl_phdr_info *info,
				uintptr_t value)
{
	return value < info->dlpi_addr ? info->dlpi_addr + value : value;
}

static void take_entry(struct symbols *s, const ElfW(Dyn) *d)
{
	uintptr_t place = loaded_address(s->info, d->d_un.d_ptr);

	if (d->d_tag == DT_SYMTAB)
		s->table = place;
	if (d->d_tag == DT_STRTAB)
		s->strings = place;
	if (d->d_tag == DT_STRSZ)
		s->strings_length = d->d_un.d_val;
	if (d->d_tag == DT_GNU_HASH)
		s->hash = place;
}

static bool open_hash(struct symbols *s)
{
	const void *p = module_bytes(s->info, s->hash, sizeof(s->h));

	if (!p)
		return false;
	memcpy(&s->h, p, sizeof(s->h));
	s->buckets = s->hash + sizeof(s->h) +
		     (uintptr_t)s->h.filter_words * sizeof(ElfW(Addr));
	s->chains = s->buckets + (uintptr_t)s->h.buckets * sizeof(uint32_t);
	return s->h.buckets;
}

static bool open_symbols(struct symbols *s, const struct dl_phdr_info *info)
{
	const ElfW(Phdr) *ph;
	const ElfW(Dyn) *d;
	uintptr_t addr;

	memset(s, 0, sizeof(*s));
	s->info = info;
	for (ph = info->dlpi_phdr; ph < info->dlpi_phdr + info->dlpi_phnum;
	     ph++)
		if (ph->p_type == PT_DYNAMIC)
			break;
	if (ph == info->dlpi_phdr + info->dlpi_phnum)
		return false;
	addr = info->dlpi_addr + ph->p_vaddr;
	while ((d = module_bytes(info, addr, sizeof(*d))) &&
	       d->d_tag != DT_NULL) {
		take_entry(s, d);
		addr += sizeof(*d);
	}
	return s->table && s->strings && s->hash && open_hash(s);
}

static bool read_bucket(const struct symbols *s, uint32_t i, uint32_t *n)
{
	return read_word(s, s->buckets + (uintptr_t)i * sizeof(*n), n);
}

static bool read_chain(const struct symbols *s, uint32_t i, uint32_t *n)
{
	return read_word(s, s->chains + (uintptr_t)(i - s->h.first) * sizeof(*n),
			 n);
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (unsigned char)*name++;
	return h;
}

static bool may_have(const struct symbols *s, uint32_t hash)
{
	size_t words = s->h.filter_words;
	size_t word = words ? hash / WORD_BITS % words : 0;
	const ElfW(Addr) *p = module_bytes(s->info, s->hash + sizeof(s->h) +
					   word * sizeof(*p), sizeof(*p));

	return p && *p >> hash % WORD_BITS & 1 &&
	       *p >> (hash >> s->h.filter_shift % 32) % WORD_BITS & 1;
}

static const ElfW(Sym) *symbol_at(const struct symbols *s, uint32_t i)
{
	return module_bytes(s->info, s->table + i * sizeof(ElfW(Sym)),
			    sizeof(ElfW(Sym)));
}

static uintptr_t is_symbol(const struct symbols *s, uint32_t i,
			   const char *name)
{
	const ElfW(Sym) *sym = symbol_at(s, i);
	size_t length = strlen(name) + 1;
	const char *string;

	/* That of an IFUNC is the address of its resolver. */
	if (!sym || sym->st_shndx == SHN_UNDEF ||
	    ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC ||
	    sym->st_name > s->strings_length)
		return 0;
	string = module_bytes(s->info, s->strings + sym->st_name, length);
	if (!string || memcmp(string, name, length))
		return 0;
	return s->info->dlpi_addr + sym->st_value;
}

uintptr_t libc_module_symbol(const struct dl_phdr_info *info, const char *name)
{
	uint32_t hash = gnu_hash(name), i, other;
	struct symbols s;
	uintptr_t found;

	if (!open_symbols(&s, info) || !may_have(&s, hash) ||
	    !read_bucket(&s, hash % s.h.buckets, &i))
		return 0;
	for (; i >= s.h.first && read_chain(&s, i, &other); i++) {
		found = (other | 1) == (hash | 1) ? is_symbol(&s, i, name) : 0;
		if (found || other & 1)
			return found;
	}
	return 0;
}

/* The number after that of the last symbol: the end of the last chain. */
static uint32_t end_of_symbols(const struct symbols *s)
{
	uint32_t i, n, last = 0;

	for (i = 0; i < s->h.buckets && read_bucket(s, i, &n); i++)
		if (n > last)
			last = n;
	while (last >= s->h.first && read_chain(s, last++, &n))
		if (n & 1)
			return last;
	return s->h.first;
}

uint64_t *libc_module_functions(const struct dl_phdr_info *info, size_t *nr)
{
	const ElfW(Sym) *sym;
	struct symbols s;
	uint64_t *list;
	uint32_t i, end;

	*nr = 0;
	if (!open_symbols(&s, info))
		return NULL;
	end = end_of_symbols(&s);
	list = malloc((size_t)(end - s.h.first) * sizeof(*list));
	if (!list)
		return NULL;
	for (i = s.h.first; i < end && (sym = symbol_at(&s, i)); i++)
		if (sym->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(sym->st_info) == STT_FUNC)
			list[(*nr)++] = sym->st_value;
	return list;
}

struct libc libc;

/* glibc 2.32; not musl. */
static const char *single_threaded;

/* Of glibc, for each module; of musl, for all. */
static int (*at_fork_of)(void (*before)(void), void (*parent)(void),
			 void (*child)(void), void *module);
static int (*at_fork)(void (*before)(void), void (*parent)(void),
		      void (*child)(void));

extern void *__dso_handle __attribute__((visibility("hidden")));

struct search {
	const char *name;
	bool past;		/* modules after this one only, and it was there */
	uintptr_t found;
};

static bool is_this(const struct dl_phdr_info *info)
{
	uintptr_t start, here = (uintptr_t)&libc;
	const ElfW(Phdr) *ph;

	for (ph = info->dlpi_phdr; ph < info->dlpi_phdr + info->dlpi_phnum;
	     ph++) {
		start = info->dlpi_addr + ph->p_vaddr;
		if (ph->p_type == PT_LOAD && here >= start &&
		    here - start < ph->p_memsz)
			return true;
	}
	return false;
}

static int search_in_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;

	if (is_this(info))
		search->past = true;
	else if (search->past)
		search->found = libc_module_symbol(info, search->name);
	return search->found != 0;
}

static uintptr_t find_symbol(const char *name, bool next)
{
	struct search search = { .name = name, .past = !next };

	dl_iterate_phdr(search_in_module, &search);
	return search.found;
}

/* Before the other constructors of this module. */
__attribute__((constructor(101))) static void look_up_libc(void)
{
	libc.open = (__typeof__(libc.open))find_symbol("dlopen", false);
	libc.close = (__typeof__(libc.close))find_symbol("dlclose", false);
	libc.symbol = (__typeof__(libc.symbol))find_symbol("dlsym", false);
	libc.find_object = (__typeof__(libc.find_object))
		find_symbol("_dl_find_object", false);
	single_threaded =
		(const char *)find_symbol("__libc_single_threaded", false);
	at_fork_of = (__typeof__(at_fork_of))
		find_symbol("__register_atfork", false);
	at_fork = (__typeof__(at_fork))find_symbol("pthread_atfork", false);
}

/* Without dlsym(), in the order in which modules were loaded. */
libc_function libc_next(const char *name)
{
	if (libc.symbol)
		return (libc_function)libc.symbol(RTLD_NEXT, name);
	return (libc_function)find_symbol(name, true);
}

bool libc_single_threaded(void)
{
	int saved = errno;
	bool single;

	if (single_threaded)
		return __atomic_load_n(single_threaded, __ATOMIC_RELAXED);
	single = sys_status("\nThreads:") == 1;
	errno = saved;
	return single;
}

void libc_at_fork(void (*before)(void), void (*after)(void))
{
	if (at_fork_of)
		at_fork_of(before, after, after, &__dso_handle);
	else if (at_fork)
		at_fork(before, after, after);
}
