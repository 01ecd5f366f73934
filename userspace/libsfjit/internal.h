/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the files of libsfjit share. Everything is compiled hidden except what
 * the installed headers declare.
 */
#ifndef SFJIT_INTERNAL_H
#define SFJIT_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include <sfjit.h>
#include <sfjit/area.h>
#include <sfjit/check.h>
#include <sfjit/code.h>
#include <sfjit/epoch.h>
#include <sfjit/live.h>
#include <sfjit/names.h>
#include <sfjit/row_builder.h>
#include <sfjit/text.h>
#pragma GCC visibility pop

/* A range that reaches the end of the address space does not wrap. */
static inline bool sfjit_wraps(const void *start, size_t length)
{
	return (uintptr_t)start + length < (uintptr_t)start;
}

/* While a thread is quiet it runs no handler of a signal, and is not cancelled. */
struct sfjit_quiet {
	sigset_t	mask;
	int		cancel;
};

void sfjit_be_quiet(struct sfjit_quiet *quiet);
void sfjit_end_quiet(const struct sfjit_quiet *quiet);

/*
 * One lock for the state of pools and of the perf map, held over fork. Its
 * holder is quiet.
 */
void sfjit_lock(void);
void sfjit_unlock(void);

/* Another lock, which may be taken inside of that one: forks take both. */
void sfjit_set_inner_lock(void (*take)(void), void (*release)(void));

/*
 * Makes an object of so many bytes, zeroed before @init fills it as @how says.
 * A failure of that leaves nothing behind. All under the lock: a child has no
 * window without its handle. @result is of a pointer to the object. Returns 0,
 * -ENOMEM, or what @init returned.
 */
int sfjit_create(size_t size, int (*init)(void *object, const void *how),
		 const void *how, void *result);

/*
 * As sfjit_lock(), for a call that makes what others need the lock for: 0, or
 * -ENOMEM without the lock if fork would not take it.
 */
int sfjit_lock_for_new(void);

/*
 * What a forked child does before its fork returns, under the lock; each is
 * NULL until there is something to do.
 */
enum { SFJIT_CHILD_EPOCH, SFJIT_CHILD_ASSIST, SFJIT_CHILD_NR };
extern void (*sfjit_in_child[SFJIT_CHILD_NR])(void);

/*
 * A thread other than the first forked this process, or one before it: the
 * thread whose number is the process's runs on a stack of the C library.
 */
extern bool sfjit_first_is_forked;

/* Private memory, readable and writable. Return 0 or -errno. */
int sfjit_map(size_t length, int flags, unsigned char **memory);
int sfjit_unmap(void *memory, size_t length);

/* sfjit_perf_map_name() for a caller that holds the lock. */
int sfjit_write_name(const void *start, size_t length, const char *name);

/* The same, and what sfjit_names_open() chose besides, for a trampoline. */
struct sfjit_function;
void sfjit_name_trampoline(const struct sfjit_function *function,
			   const char *name);

/* sfjit_names_drop() for a caller that holds the lock. */
int sfjit_drop_names(const void *start, size_t length);

/* Whether rows are what sfjit_section_size() takes, if it takes any: or -errno. */
int sfjit_check_named(const struct sfjit_function *function);

/* prctl(), or what sfjit_cover_modules() has put in its place. In register.c. */
extern int (*sfjit_prctl)(int option, ...);

/*
 * As sfjit_register() and sfjit_replace(), for a section that grows. Also
 * -EOPNOTSUPP: the kernel has windows, but no live ones.
 */
int sfjit_register_live(uintptr_t key, const void *section, size_t length,
			const void *text, size_t text_length, bool replace);

/*
 * A section that grows: its header, with no functions yet, and one function,
 * see sfg_write_fde().
 */
struct sfg_place;
void sfjit_write_header(void *section);
int sfjit_write_function(const struct sfjit_function *function,
			 const struct sfg_place *place, size_t *used);

/* Where an area lies, and whether a function reaches over an address of it. */
void sfjit_area_text(const struct sfjit_area *area, uintptr_t *start,
		     size_t *length, size_t *granule);
bool sfjit_area_is_split(const struct sfjit_area *area, uintptr_t address);

/* The text of a window that sfjit_check() did not refuse. In check.c. */
void sfjit_table_text(const struct sfjit_table *table, uintptr_t *start,
		      uintptr_t *end);

/*
 * Fault injection. A test build has this function made by the test: it is
 * asked before each system call that can fail and returns 0 or the -errno to
 * fail with.
 */
#ifdef SFJIT_TEST
int sfjit_fault(const char *call);
#else
static inline int sfjit_fault(const char *call)
{
	return 0;
}
#endif

#endif /* SFJIT_INTERNAL_H */
