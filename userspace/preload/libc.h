/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What some C libraries lack, or have under a version that older ones lack. A
 * program whose ld.so does not find a symbol of a preloaded module does not
 * start, so this module links only to names that glibc has had for long, and
 * musl has, too: tests/preload/portable.sh has them all. The others are looked
 * up when the module is loaded.
 */
#ifndef SFJIT_PRELOAD_LIBC_H
#define SFJIT_PRELOAD_LIBC_H

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

typedef void (*libc_function)(void);

/*
 * NULL: the process has none. glibc before 2.34 has the first three in
 * libdl.so.2, which not every program loads; 2.35 is the first with the last.
 */
struct libc {
	void *(*open)(const char *file, int mode);
	int (*close)(void *handle);
	void *(*symbol)(void *handle, const char *name);
	int (*find_object)(void *address, struct dl_find_object *result);
};

extern struct libc libc;

/*
 * The function that the program would have called if this module did not define
 * one of that name; NULL: there is none.
 */
libc_function libc_next(const char *name);

/* False: there are other threads, or may be. */
bool libc_single_threaded(void);

void libc_at_fork(void (*before)(void), void (*after)(void));

/*
 * Dynamic symbols of a module that may not have been relocated yet. dlsym()
 * takes a lock of ld.so that must not be taken while dl_iterate_phdr() runs.
 *
 * Returns where it is; 0: the module does not define it.
 */
uintptr_t libc_module_symbol(const struct dl_phdr_info *info, const char *name);

/*
 * Link-time addresses of the functions that a module defines, in no order, from
 * malloc(). NULL, and 0 of them: there is no list of them, or no memory.
 */
uint64_t *libc_module_functions(const struct dl_phdr_info *info, size_t *nr);

#endif /* SFJIT_PRELOAD_LIBC_H */
