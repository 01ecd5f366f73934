/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * libsfjit: make code generated at run time walkable by the kernel.
 *
 * Rules that hold for every call of this header:
 *
 * - A call returns 0 (or a value >= 0 where it says so) on success and -errno
 *   on failure. errno itself may be changed by any call.
 * - A range is its first byte, called @start or by what lies there (@section,
 *   @text), and its number of bytes, called @length. Ranges are half-open.
 *   @size is the bytes of an object: a function, a slot, a buffer.
 * - Every call is MT-safe, except that calls with the same live window must be
 *   made one at a time. No call is async-signal-safe unless it says so.
 * - fork: the child can use every pool, trampoline and registration; the kernel
 *   copies the windows. fork is permitted at any time, also in a signal
 *   handler. A process made by vfork() or by clone() with CLONE_VM shares them:
 *   only exec or _exit there.
 * - pthread_atfork: handlers that take a lock under which you call this library
 *   must be registered after it was loaded, or a fork may deadlock. The library
 *   registers its own when it is loaded: in a program that is linked with it,
 *   before main() and before constructors without priority. If that fails,
 *   calls that create a pool or a live window, or give a name, return -ENOMEM.
 * - On a kernel without SFrame windows, or where a seccomp filter hides them,
 *   registering, replacing and unregistering succeed and do nothing. Everything
 *   else works; only the stacks are shorter.
 */
#ifndef SFJIT_H
#define SFJIT_H

#include <stddef.h>
#include <stdint.h>

#include <sfjit/rows.h>
#include <sfjit/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What the running kernel offers ---------------------------------- */

/* Questions for sfjit_available(). */
#define SFJIT_QUERY_KERNEL	0	/* 1: the kernel takes registrations */
#define SFJIT_QUERY_FLAGS	1	/* SFRAME_WINDOW_* flags it knows */
#define SFJIT_QUERY_FORMATS	2	/* bit n: it reads SFRAME_FORMAT n */
#define SFJIT_QUERY_LIMIT	3	/* most windows of one process */

/**
 * sfjit_available - query what the running kernel supports
 * @query:	SFJIT_QUERY_*
 *
 * Each call queries the kernel and nothing is cached, so that the answer is
 * right after a seccomp filter was installed and in a restored process image.
 * The flags and formats are those of <sfjit/sframe.h>.
 *
 * Return: the answer; 0 to every question on a kernel without SFrame windows.
 *   -EINVAL	@query is none of the above.
 */
long sfjit_available(unsigned int query);

/* ---- Windows in memory of the caller --------------------------------- */

/**
 * sfjit_register - tell the kernel how to walk through a range of code
 * @key:	name of the window, unique in the process
 * @section:	SFrame version 3 section that describes the code
 * @length:	bytes of @section; may be more than it uses
 * @text:	first byte of the code
 * @text_length: bytes of code; 0 with @text NULL takes the range from the
 *		first to the last function of the section
 *
 * Convention: @key is the address of the first byte of the code, as an
 * integer. Code of two producers in one process never shares an address, so
 * that their keys differ. The pools of libsfjit follow this convention.
 *
 * Order: write the code, make it executable, write the section, register.
 * Unregister, wait until no thread runs in the code, unmap. @section remains
 * memory of the caller. The kernel reads it at every sample: it must neither
 * change nor be freed before sfjit_unregister() or sfjit_replace() returned. It
 * need not be executable, aligned, nor near the code; it should be in memory
 * that was written to (anonymous, not a mapped file), because a sample that
 * finds it paged out ends there. Unmapping any byte of the code removes the
 * window and frees its key; the rest of the code is not walkable then.
 *
 * A row with an addend (struct sfjit_rule) is not version 3. It works where
 * sfjit_available(SFJIT_QUERY_FORMATS) has the bit of SFRAME_FORMAT_V3_ADDEND;
 * elsewhere the window is registered as well, and stacks end at this row.
 *
 * Code that a window covers is walked by its section only: an address for
 * which the section has no row ends the stack there. Code outside of all
 * windows is walked by frame pointer.
 *
 * Return: 0, also where the kernel knows no SFrame windows.
 *   -EINVAL	@section is NULL; @length is less than a header; one of @text
 *		and @text_length is 0; a range wraps around; the kernel does not
 *		support the header; the code is not completely mapped
 *		executable; the section has no functions and there is no @text.
 *   -EBUSY	@key is in use.
 *   -EEXIST	The range overlaps that of another window.
 *   -EFAULT	@section is not readable.
 *   -ENOSPC	The process has as many windows as vm.max_sframe_windows.
 *   -ENOMEM	The kernel is out of memory.
 *   -EINTR	A fatal signal is pending.
 *   -EOPNOTSUPP The caller is a task of another word size.
 */
int sfjit_register(uintptr_t key, const void *section, size_t length,
		   const void *text, size_t text_length);

/**
 * sfjit_replace - replace the section of a window, and extend its range
 * @key:	window to replace
 * @section:	as in sfjit_register()
 * @length:	as in sfjit_register()
 * @text:	as in sfjit_register(); the new range equals or contains the old
 * @text_length: as in sfjit_register()
 *
 * Every sample finds the old window or the new one, and when the call fails the
 * old window is still there. When the call has returned 0 the old section may
 * be changed or freed.
 *
 * Return: as sfjit_register(), without -EBUSY, and
 *   -ENOENT	No window has this key.
 *   -EINVAL	The new range does not contain the old one.
 */
int sfjit_replace(uintptr_t key, const void *section, size_t length,
		  const void *text, size_t text_length);

/**
 * sfjit_unregister - remove a window
 * @key:	as registered
 *
 * When it returns 0, the section may be changed or freed.
 *
 * Return: 0, also where the kernel knows no SFrame windows.
 *   -ENOENT	No window has this key. Also when the code was unmapped.
 */
int sfjit_unregister(uintptr_t key);

/* ---- Sections made from rows ----------------------------------------- */

/* Rows and functions are described in <sfjit/rows.h>. */

/**
 * sfjit_section_size - bytes that sfjit_section_fill() needs
 * @functions:	functions, sorted by address, without overlap
 * @nr:		number of functions, at least 1
 *
 * Allocates nothing. The size does not depend on the addresses.
 *
 * Return: size of the section.
 *   -EINVAL	@functions is NULL or @nr 0; a function or a row breaks a rule
 *		above.
 *   -E2BIG	The section would be larger than the format can express.
 */
long sfjit_section_size(const struct sfjit_function *functions, size_t nr);

/**
 * sfjit_section_fill - write the section for functions
 * @section:	where it will be read
 * @length:	bytes at @section
 * @functions:	as in sfjit_section_size()
 * @nr:		as in sfjit_section_size()
 *
 * The section refers to the code by distance: it is valid only at @section.
 * Allocates nothing and keeps no reference to its arguments. On failure
 * nothing was written.
 *
 * Return: bytes written.
 *   -EINVAL	as sfjit_section_size(), or @section is NULL.
 *   -E2BIG	as sfjit_section_size().
 *   -ENOSPC	@length is too small.
 */
long sfjit_section_fill(void *section, size_t length,
			const struct sfjit_function *functions, size_t nr);

/* ---- Live windows ---------------------------------------------------- */

/*
 * A window to which functions are added without a system call, for code that
 * is appended to an area. The library keeps the section and writes into it, the
 * kernel reads how many functions there are for each frame that it walks.
 *
 * Addresses ascend: a function lies behind all that were published before.
 * Nothing that was published changes, except for taking a function back. Code
 * whose addresses do not ascend needs sfjit_replace().
 *
 * Threads: calls with the same window must be made one at a time. The lock
 * under which a JIT gives out the addresses of its code serves this purpose,
 * since addresses have to be published in the order in which they are given
 * out. Calls with different windows may be made at the same time.
 *
 * fork is permitted at any time, also while another thread publishes: in the
 * child that function is published, or can be.
 *
 * On a kernel without live windows every call does the same to memory, and only
 * the stacks are shorter.
 */
struct sfjit_live;

/**
 * sfjit_live_create - make a live window without functions
 * @text:	first byte of the area for code; the key of the window
 * @length:	bytes of the area
 * @functions:	how many functions it has to take at least, at most 16777216;
 *		0: one for each 64 bytes of @length
 * @rows:	how many rows they may have in all at least; 0: four for each
 *		function
 * @live:	set to the window, to be given to sfjit_live_retire()
 *
 * The area is mapped executable, all of it, at the time of the call; it may be
 * another mapping of the memory that the JIT writes to, and permissions may
 * change later. The section is address space for rows of the largest size, and
 * takes memory as it fills: 16 bytes for a function, 5 more and mostly 3 for
 * each row. After mlockall(MCL_FUTURE) all of it is locked memory from the
 * start; pass the numbers of functions and rows in that case. A window that
 * cannot be registered is no failure of this call; sfjit_live_stat() has the
 * error.
 *
 * Return: 0; on failure @live is not changed.
 *   -EINVAL	@live or @text is NULL, @length is 0, or the range wraps around.
 *   -E2BIG	More functions, or a section of more than 4 GiB.
 *   -ENOMEM	No memory, or the limit of mappings or of locked memory
 *		(RLIMIT_MEMLOCK) is reached.
 */
int sfjit_live_create(const void *text, size_t length, size_t functions,
		      size_t rows, struct sfjit_live **live);

/**
 * sfjit_live_publish - make a function walkable
 * @live:	window to add it to
 * @function:	function and rows, as in sfjit_section_size()
 *
 * Order: write the code, publish, let threads run it. A walk of a thread that
 * runs the function, on any CPU, then finds it counted and its rows whole, if
 * it can read the section. A deferred walk (perf's fp,defer) can: it faults in
 * missing pages. A walk in an NMI (perf's fp) cannot, and ends at the function
 * if a page it needs is not mapped at that moment: swapped out, being migrated,
 * marked for NUMA balancing, or being copied by the first publish after a fork,
 * which writes to it.
 *
 * The library keeps no reference to @function.
 *
 * No system call, no lock, no allocation, and async-signal-safe in a handler
 * that does not interrupt another call for @live. Memory of the section may be
 * touched for the first time.
 *
 * Return: 0; on failure nothing has changed.
 *   -EINVAL	@live or @function is NULL; the function is not inside of the
 *		area, or it or a row breaks a rule of sfjit_section_size().
 *   -EEXIST	It starts in front of the end of one that was published before,
 *		even if that was taken back.
 *   -E2BIG	It has more than 65535 rows.
 *   -ENOSPC	The section is full: sfjit_live_grow().
 */
int sfjit_live_publish(struct sfjit_live *live,
		       const struct sfjit_function *function);

/**
 * sfjit_live_withdraw - take a function back
 * @live:	window it was published in
 * @start:	first byte of the function
 *
 * Walks that reach it from now on end there. Its entry and rows stay as they
 * are, but for a size of 0, until sfjit_live_grow() makes a section without
 * them. Time is O(log n), and the rest as for sfjit_live_publish().
 *
 * Order: wait until no thread runs it or returns to it, withdraw, then reuse
 * its memory, for data or code. No function can be published there before
 * sfjit_live_grow(), and stacks end in code of the area that is not published.
 *
 * Return: 0.
 *   -EINVAL	@live is NULL.
 *   -ENOENT	No function that is published starts there.
 */
int sfjit_live_withdraw(struct sfjit_live *live, const void *start);

/**
 * sfjit_live_grow - give a window a new section
 * @live:	window to change
 * @text:	NULL: the area stays; else the new one, which equals or contains
 *		the old
 * @length:	bytes of the new area; 0 with @text NULL
 * @functions:	how many more functions it has to take; 0: as many again as the
 *		section was made for
 * @rows:	how many more rows; 0: as much space again as there is
 *
 * The functions are copied into a larger section, without those that were taken
 * back: their entries, and text behind the last remaining function, are free
 * again. Then the section is replaced as by sfjit_replace(). Two system calls
 * to map, one to register, one to unmap; time is O(n).
 *
 * A window that could not be registered is registered again.
 *
 * Return: 0; on failure nothing has changed.
 *   -EINVAL	@live is NULL; the new area does not contain the old one, or is
 *		not mapped executable.
 *   -E2BIG, -ENOMEM  as sfjit_live_create().
 *   -EEXIST	The new area overlaps another window.
 *   -EINTR	A fatal signal is pending.
 */
int sfjit_live_grow(struct sfjit_live *live, const void *text, size_t length,
		    size_t functions, size_t rows);

/**
 * sfjit_live_retire - remove a window and free its section
 * @live:	window to retire; NULL does nothing
 *
 * Then wait until no thread runs code of the area, or returns to it, and unmap
 * that.
 *
 * Return: 0. @live is gone in any case.
 *   -ENOMEM	The limit of mappings kept the section from being unmapped.
 */
int sfjit_live_retire(struct sfjit_live *live);

/**
 * struct sfjit_live_stat - what sfjit_live_stat() fills
 * @section:	SFrame section, valid until the window grows or goes
 * @length:	bytes of it
 * @room:	bytes that are left for rows
 * @functions:	functions published, with those taken back
 * @withdrawn:	functions taken back
 * @capacity:	most functions
 * @error:	-errno of the registration, as sfjit_register(); 0 where the
 *		kernel knows no windows; -EOPNOTSUPP where it knows windows, but
 *		no live ones
 */
struct sfjit_live_stat {
	const void	*section;
	size_t		length;
	size_t		room;
	unsigned int	functions;
	unsigned int	withdrawn;
	unsigned int	capacity;
	int		error;
};

/**
 * sfjit_live_stat - look at a live window
 * @live:	window to look at
 * @stat:	filled
 *
 * Return: 0.
 *   -EINVAL	@live or @stat is NULL.
 */
int sfjit_live_stat(const struct sfjit_live *live,
		    struct sfjit_live_stat *stat);

/* ---- Pools of trampolines -------------------------------------------- */

/*
 * Kinds of trampoline. Each is a C function that calls a target and returns
 * what it returned, with a frame of its own in every stack and without frame
 * pointer. Arguments are passed through in registers; none may be on the
 * stack: at most six integer arguments (five for ARG and RBP) and eight
 * floating-point ones. Results of any class are passed through, variable
 * arguments too.
 *
 * ARG	the target is the sixth integer argument of the call
 * SLOT	the target was given to sfjit_tramp_get(); signature unchanged
 * RBP	as ARG, and rbp holds no frame address during the call, as in code
 *	that uses it as a general register
 */
#define SFJIT_TRAMP_ARG		0
#define SFJIT_TRAMP_SLOT	1
#define SFJIT_TRAMP_RBP		2

/* Opaque: windows of 4096 trampolines of one kind. */
struct sfjit_pool;

/**
 * sfjit_pool_create - make a pool
 * @kind:	SFJIT_TRAMP_*
 * @pool:	set to the pool, to be given to sfjit_pool_retire()
 *
 * The first window is mapped and registered here. A window is 64 KiB of code,
 * all of its trampolines written at once before the memory becomes executable
 * (no mapping is ever writable and executable), for SLOT 64 KiB of data, and
 * one page for its section. A window that cannot be registered is used
 * nevertheless; sfjit_pool_stat() has the error.
 *
 * Return: 0; on failure @pool is not changed.
 *   -EINVAL	@kind is none of the above, or @pool is NULL.
 *   -ENOMEM	No memory, or the limit of mappings or of locked memory
 *		(RLIMIT_MEMLOCK) is reached.
 *   -EACCES, -EPERM  The system does not permit executable memory.
 */
int sfjit_pool_create(unsigned int kind, struct sfjit_pool **pool);

/**
 * sfjit_pool_retire - remove all windows of a pool
 * @pool:	pool to retire; NULL does nothing
 *
 * Each window is unregistered first, then unmapped. No thread may be inside a
 * trampoline, or return through one later, or use @pool in another call. Names
 * stay in the perf map file.
 *
 * Return: 0. @pool is gone in any case.
 *   -ENOMEM	The limit of mappings kept a window from being unmapped.
 */
int sfjit_pool_retire(struct sfjit_pool *pool);

/**
 * sfjit_tramp_get - get a trampoline
 * @pool:	pool to take it from; it grows as needed
 * @target:	SLOT: function to call, not NULL. ARG and RBP: not used by the
 *		code; part of the identity, may be NULL
 * @name:	symbol for profilers, written to the perf map; NULL for none
 * @entry:	set to the first byte of the trampoline; cast it to the type of
 *		the target's function
 *
 * The same @target and @name give the same trampoline again, and as many calls
 * of sfjit_tramp_put() are needed. @name is copied. A name that could not be
 * written to the perf map is not an error.
 *
 * Return: 0; on failure @entry is not changed.
 *   -EINVAL	@pool or @entry is NULL; SLOT and @target is NULL.
 *   -ENOMEM, -EACCES, -EPERM  as sfjit_pool_create(): no further window.
 *   -EOVERFLOW	Got more than 4294967295 times without put.
 */
int sfjit_tramp_get(struct sfjit_pool *pool, const void *target,
		    const char *name, void **entry);

/**
 * sfjit_tramp_put - give back a trampoline
 * @pool:	pool it came from
 * @entry:	as set by sfjit_tramp_get()
 *
 * After the last put no thread may be inside the trampoline. It is reused only
 * when no window has a trampoline left that was never used, the longest unused
 * one first: a line of the perf map cannot be taken back, and profilers may
 * show the old name or the new one. A free SLOT calls address 0.
 *
 * Return: 0.
 *   -EINVAL	@pool is NULL, or @entry is no trampoline of @pool.
 *   -ENOENT	@entry is not in use.
 */
int sfjit_tramp_put(struct sfjit_pool *pool, void *entry);

/**
 * struct sfjit_pool_stat - what sfjit_pool_stat() fills
 * @windows:	windows mapped
 * @registered:	windows that were registered without error; where the kernel
 *		knows no SFrame windows that is all of them
 * @used:	trampolines in use
 * @error:	-errno of the last failed registration, 0 if none failed
 */
struct sfjit_pool_stat {
	unsigned int	windows;
	unsigned int	registered;
	unsigned int	used;
	int		error;
};

/**
 * sfjit_pool_stat - look at a pool
 * @pool:	pool to look at
 * @stat:	filled
 *
 * Return: 0.
 *   -EINVAL	@pool or @stat is NULL.
 */
int sfjit_pool_stat(const struct sfjit_pool *pool,
		    struct sfjit_pool_stat *stat);

/* ---- Names for profilers --------------------------------------------- */

/**
 * sfjit_perf_map_name - write a line to the perf map of this process
 * @start:	first byte of the code
 * @length:	bytes of code, not 0
 * @name:	symbol, not empty; copied. Control characters become '?', what
 *		exceeds 4000 bytes is cut off. perf ignores names of fewer than
 *		three bytes
 *
 * The file is /tmp/perf-PID.map. It is opened for each line, which is one
 * write(2), so that several producers can share it and no file descriptor
 * stays open. A file that is older than the process, left by another one with
 * its number, is emptied first. The first line that a forked child writes is
 * preceded by what this library and others had written up to the parent's last
 * line before the fork.
 *
 * Return: 0. Most callers ignore errors.
 *   -EINVAL	@length is 0, the range wraps around, @name is NULL or empty.
 *   -EPERM	The file belongs to another user or is not a regular file.
 *   -ELOOP	The file is a symbolic link.
 *   -ENOMEM	There was no memory for atfork handlers when the library was
 *		loaded.
 *   other	The errors of open(2) and write(2).
 */
int sfjit_perf_map_name(const void *start, size_t length, const char *name);

/**
 * sfjit_perf_map_sync - write a forked child's inherited names now
 *
 * For a child that gives no names itself but is profiled separately, as by
 * perf record -p. Does nothing without inherited names.
 *
 * Return: as sfjit_perf_map_name().
 */
int sfjit_perf_map_sync(void);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_H */
