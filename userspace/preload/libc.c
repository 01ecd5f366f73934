// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include "libc.h"
#include "symbol.h"
#include "sys.h"

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

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;

	if (is_this(info))
		search->past = true;
	else if (search->past)
		search->found = symbol_find(info, search->name);
	return search->found != 0;
}

static uintptr_t find_symbol(const char *name, bool next)
{
	struct search search = { .name = name, .past = !next };

	dl_iterate_phdr(visit, &search);
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
