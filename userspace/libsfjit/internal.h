/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Shared by the files of libsfjit. Everything is compiled hidden except what
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
#include <sfjit/names.h>
#include <sfjit/row_builder.h>
#include <sfjit/text.h>
#pragma GCC visibility pop

/* Flags that a program may give a row; the encoder knows which its machine has. */
#define SFJIT_ROW_GIVEN	(SFJIT_ROW_OUTERMOST | SFJIT_ROW_MANGLED_RA | \
			 SFJIT_ROW_RBX)

/* A range up to the end of the address space does not wrap. */
static inline bool sfjit_wraps(const void *start, size_t length)
{
	return (uintptr_t)start + length < (uintptr_t)start;
}

/* A quiet thread runs no signal handlers and is not cancelled. */
struct sfjit_quiet {
	sigset_t	mask;
	int		cancel;
};

void sfjit_be_quiet(struct sfjit_quiet *quiet);
void sfjit_end_quiet(const struct sfjit_quiet *quiet);

/*
 * One lock protects the state of pools and of the perf map. fork() takes it.
 * Its holder is quiet.
 */
void sfjit_lock(void);
void sfjit_unlock(void);

/* A second lock, taken after the first. fork() takes both. */
void sfjit_set_inner_lock(void (*take)(void), void (*release)(void));

/*
 * Allocates @size zeroed bytes and calls @init with @how, under the lock, so
 * that a forked child has no window without a handle. Frees them if @init
 * fails. @result points to a pointer to the object. Returns 0, -ENOMEM, or the
 * result of @init.
 */
int sfjit_create(size_t size, int (*init)(void *object, const void *how),
		 const void *how, void *result);

/*
 * Like sfjit_lock(), for calls that create an object. Returns -ENOMEM without
 * the lock if fork() could not be hooked.
 */
int sfjit_lock_for_new(void);

/*
 * Called in a forked child before fork() returns, under the lock; NULL while
 * unused.
 */
enum { SFJIT_CHILD_EPOCH, SFJIT_CHILD_ASSIST, SFJIT_CHILD_NR };
extern void (*sfjit_in_child[SFJIT_CHILD_NR])(void);

/*
 * This process, or an ancestor, was forked by a thread other than the first.
 * The thread whose id is the process's then runs on a stack of the C library.
 */
extern bool sfjit_first_is_forked;

/* Private memory, readable and writable. Return 0 or -errno. */
int sfjit_map(size_t length, int flags, unsigned char **memory);
int sfjit_unmap(void *memory, size_t length);

/* sfjit_perf_map_name() with the lock held. */
int sfjit_write_name(const void *start, size_t length, const char *name);

/* The same for a trampoline; also writes what sfjit_names_open() asked for. */
struct sfjit_function;
void sfjit_name_trampoline(const struct sfjit_function *function,
			   const char *name);

/* sfjit_names_drop() with the lock held. */
int sfjit_drop_names(const void *start, size_t length);

/* Whether sfjit_section_size() would accept the rows. Returns 0 or -errno. */
int sfjit_check_named(const struct sfjit_function *function);

/* prctl(), or the module's once sfjit_cover_modules() has loaded it. */
extern int (*sfjit_prctl)(int option, ...);

/*
 * Like sfjit_register() and sfjit_replace(), for a table that changes. Returns
 * -EOPNOTSUPP if the kernel has windows but no packed tables.
 */
int sfjit_register_growing(uintptr_t key, const void *table, size_t length,
			   const void *text, size_t text_length, bool replace);

/* The text of a window that sfjit_check() accepted. In check.c. */
void sfjit_table_text(const struct sfjit_table *table, uintptr_t *start,
		      uintptr_t *end);

/*
 * Fault injection. Tests define this function: called before each system call
 * that can fail, it returns 0 or the -errno to fail with.
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
