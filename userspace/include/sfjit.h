/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * libsfjit: make code generated at run time walkable by the kernel.
 *
 * This header is enough for most JITs. For the rest include
 *
 *	<sfjit/row_builder.h>	rows made while you emit code
 *	<sfjit/code.h>		tables that the library makes and keeps
 *	<sfjit/text.h>		code that has no rows
 *	<sfjit/area.h>		functions published without a system call
 *	<sfjit/epoch.h>		areas whose code is replaced while threads run
 *	<sfjit/names.h>		names for addresses that are reused
 *	<sfjit/check.h>		what the kernel makes of a table, for tests
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

/**
 * DOC: libsfjit - rules for every call of the library
 *
 * A call returns 0, or the value that it documents. On failure it returns a
 * negative error number. Any call may change errno.
 *
 * On a kernel without SFrame windows, or where a seccomp filter hides them,
 * registering, replacing and unregistering succeed and do nothing. Everything
 * else works; only the stacks are shorter. No error is a reason to stop a
 * program.
 *
 * A range is its first byte, called @start or by what lies there (@section,
 * @text), and its number of bytes, @length. Ranges are half-open. @size is the
 * bytes of an object: a function, a slot, a buffer.
 *
 * Every call is MT-safe, except that some calls for an area must be its only
 * ones, see sfjit_area(7). No call is async-signal-safe unless it says so. No
 * call is a cancellation point.
 *
 * You may fork at any time, also in a signal handler. The child can use every
 * pool, trampoline and registration; the kernel copies the windows. A process
 * made by vfork() or by clone() with CLONE_VM shares them with its parent:
 * there, only exec or _exit.
 *
 * The library calls pthread_atfork() when it is loaded: in a program linked
 * with it, before main() and before constructors without priority. If you have
 * atfork handlers that take a lock under which you call this library, register
 * them later, or a fork may deadlock. If the library's own registration fails,
 * calls that create a pool or an area, or that give a name, return
 * -ENOMEM.
 *
 * With SFJIT_DEBUG=1 in the environment each registration is checked, on any
 * kernel, and mistakes are written to stderr: see sfjit(7). Calls then return
 * what a kernel with windows would return. With SFJIT_DEBUG=abort the first
 * mistake ends the program.
 */

#define SFJIT_QUERY_KERNEL	0
#define SFJIT_QUERY_FLAGS	1
#define SFJIT_QUERY_FORMATS	2
#define SFJIT_QUERY_LIMIT	3

/**
 * sfjit_available - query what the running kernel supports
 * @query:	one of the constants below
 *
 * You need this only to choose between features: on a kernel without windows
 * the other calls succeed. The flags and formats are those of <sfjit/sframe.h>.
 *
 * * SFJIT_QUERY_KERNEL - whether the kernel takes registrations: 1 or 0
 * * SFJIT_QUERY_FLAGS - the SFRAME_WINDOW_* flags that it knows
 * * SFJIT_QUERY_FORMATS - bit n is set if it reads SFRAME_FORMAT n
 * * SFJIT_QUERY_LIMIT - the maximum number of windows in a process
 *
 * Each call asks the kernel, so the answer stays correct when a seccomp filter
 * is installed, and in a restored process image. Only /dev/sfjit, by which the
 * module for stock kernels takes windows, is not looked for again: if it is missing
 * when the library is loaded, the process has none.
 *
 * Return:
 * * 0 or more - the answer; 0 to every query on a kernel without SFrame
 *   windows, or if a seccomp filter hides them.
 * * -EINVAL - @query is none of the above.
 */
long sfjit_available(unsigned int query);

/* ---- Windows whose table you keep -------------------------------------- */

/**
 * sfjit_register - tell the kernel how to unwind through a range of code
 * @key:	name of the window, unique in the process
 * @section:	table that describes the code: a packed table, as
 *		sfjit_section_fill() writes it, or an SFrame version 3 section,
 *		as assemblers do
 * @length:	bytes of @section; may be more than it uses
 * @text:	first byte of the code
 * @text_length: bytes of code; 0 with @text NULL takes the range from the first
 *		to the last function of @section
 *
 * Use the address of the code's first byte as @key. Two producers in one
 * process never share an address, so their keys differ. The library's pools do
 * the same.
 *
 * Write the code, make it executable, write the section, register. You may also
 * register before you make it executable: it has to be mapped. Later unregister, wait until no thread runs in the code, unmap.
 *
 * @section stays your memory. The kernel reads it in every sample: do not
 * change or free it before sfjit_unregister() or sfjit_replace() has succeeded.
 * It need not be executable or near the code. The address of a packed table is a
 * multiple of 16. Use anonymous memory that was written to: if the table is paged
 * out, a sample ends there.
 *
 * The kernel unwinds code in a window by its table only: an address without a
 * row ends the stack. It unwinds code outside of all windows by frame pointer.
 * Unmapping any byte of the code removes the whole window and frees its key.
 *
 * Only packed tables have rows with addends, see sfjit_rule(3type). In a section,
 * stacks end there.
 *
 * If a registration fails, go on: only the stacks are shorter.
 *
 * Return:
 * * 0 - registered, or the kernel has no SFrame windows.
 * * -EINVAL - @section is NULL; @length is less than a header; one of @text and
 *   @text_length is 0; a range wraps around. These are found on every kernel.
 * * -EINVAL - the kernel does not support the header; a packed table is not at a
 *   multiple of 16; the code is not completely mapped; the table has no functions
 *   and there is no @text.
 * * -EBUSY - @key is in use.
 * * -EEXIST - the range overlaps another window.
 * * -EFAULT - the table's header or, without @text, a section's first or last
 *   FDE is not readable.
 * * -ENOSPC - the process has as many windows as vm.max_sframe_windows allows.
 * * -ENOMEM - the kernel is out of memory.
 * * -EINTR - a fatal signal is pending.
 * * -EOPNOTSUPP - the caller is a task of another word size.
 * * -EPERM - windows come from the module sfjit, and the process may not write to
 *   /dev/sfjit, or can no longer open it.
 * * -EMFILE, -ENFILE - /dev/sfjit cannot be opened now.
 */
int sfjit_register(uintptr_t key, const void *section, size_t length,
		   const void *text, size_t text_length);

/**
 * sfjit_register_biased - register a table that was made for other addresses
 * @key:	as in sfjit_register()
 * @section:	as in sfjit_register(); processes may share it
 * @length:	as in sfjit_register()
 * @text:	as in sfjit_register(): where the code is now
 * @text_length: as in sfjit_register()
 * @bias:	added to the start of each function, modulo 2^64
 *
 * A packed table stores the address of its code. If that was loaded B higher than
 * the table says, the bias is B, wherever the table is.
 *
 * An SFrame section stores the distance from itself to each function. A section
 * made for address 0 and for code at its link-time addresses, which is now at S
 * for code that was loaded B higher, has the bias B - S.
 *
 * Pages of a file can be evicted, and the file can be truncated: a sample ends
 * there. Map it with MAP_POPULATE. Do not read the mapping yourself if others
 * can truncate the file: that raises SIGBUS, in your program but not in the
 * kernel.
 *
 * Return: as sfjit_register(), and
 * * -E2BIG - @bias is not 0, and the kernel does not support a bias.
 */
int sfjit_register_biased(uintptr_t key, const void *section, size_t length,
			  const void *text, size_t text_length,
			  uintptr_t bias);

/**
 * sfjit_replace - replace the section of a window, and extend its range
 * @key:	window to replace
 * @section:	as in sfjit_register()
 * @length:	as in sfjit_register()
 * @text:	as in sfjit_register(); the new range equals or contains the old
 * @text_length: as in sfjit_register()
 *
 * Each sample finds either the old window or the new one. If the call fails the
 * old window stays. After it returned 0 you may change or free the old section.
 *
 * Return: as sfjit_register(), without -EBUSY, and
 * * -ENOENT - no window has this key, for example because its code was
 *   unmapped.
 * * -EINVAL - the new range does not contain the old one.
 */
int sfjit_replace(uintptr_t key, const void *section, size_t length,
		  const void *text, size_t text_length);

/**
 * sfjit_unregister - remove a window
 * @key:	as registered
 *
 * Return:
 * * 0 - removed, or the kernel has no SFrame windows. You may now change or
 *   free the section.
 * * -ENOENT - no window has this key, for example because its code was
 *   unmapped.
 * * -EPERM, -EMFILE, -ENFILE - windows come from the module sfjit, and the
 *   process can no longer open /dev/sfjit, for example after chroot(). The window
 *   stays: keep the section until the code is unmapped.
 */
int sfjit_unregister(uintptr_t key);

/* ---- Tables made from rows --------------------------------------------- */

/**
 * sfjit_section_size - get the size of the packed table for functions
 * @functions:	functions, sorted by address, without overlap; see
 *		sfjit_function(3type)
 * @nr:		number of functions, at least 1
 *
 * The size does not depend on where the first function is, only on where the
 * others are from there. Allocates nothing.
 *
 * A row is refused if the format has no encoding for it, or if no walk could
 * use it: a CFA that is the stack pointer plus an offset is above the stack
 * pointer, and one that starts from the stack or frame pointer is a multiple of
 * 8 away from it.
 *
 * A table has 4 bytes for every 256 bytes from the first function to the last
 * one (every 512 on s390x, every 1024 on AArch64), also where there is no
 * function. If they are far apart, make several tables and windows. A table can
 * always have 4096 of these 4 bytes, and for each function and row 64 more.
 *
 * Return:
 * * more than 0 - size of the table.
 * * -EINVAL - @functions is NULL or @nr is 0; a function or row breaks a rule
 *   of sfjit_function(3type) or sfjit_row(3type), or the row is refused.
 * * -E2BIG - functions are too far apart, or repeat too often beside others; the
 *   table would exceed the format's limits.
 * * -ENOTSUP - SFrame has no number for this machine: RISC-V, PowerPC.
 */
long sfjit_section_size(const struct sfjit_function *functions, size_t nr);

/**
 * sfjit_section_fill - write the packed table for functions
 * @section:	where the kernel will read it, a multiple of 16
 * @length:	bytes at @section
 * @functions:	as in sfjit_section_size()
 * @nr:		as in sfjit_section_size()
 *
 * malloc() and mmap() return multiples of 16; declare an array of bytes with
 * _Alignas(16). The table has the address of the code and does not refer to its
 * own: you may copy it. Allocates nothing and keeps no reference to its arguments.
 * On failure nothing was written.
 *
 * Return:
 * * more than 0 - bytes written.
 * * -EINVAL - as sfjit_section_size(); @section is NULL or not a multiple of 16.
 * * -E2BIG, -ENOTSUP - as sfjit_section_size().
 * * -ENOSPC - @length is too small.
 */
long sfjit_section_fill(void *section, size_t length,
			const struct sfjit_function *functions, size_t nr);

/* ---- Pools of trampolines ---------------------------------------------- */

#define SFJIT_TRAMP_ARG		0
#define SFJIT_TRAMP_SLOT	1
#define SFJIT_TRAMP_RBP		2
#define SFJIT_TRAMP_SIGNED_A	3
#define SFJIT_TRAMP_SIGNED_B	4

struct sfjit_pool;

/**
 * sfjit_pool_create - make a pool of trampolines
 * @kind:	one of the kinds below
 * @pool:	set to the pool; release it with sfjit_pool_retire()
 *
 * A trampoline is a C function that calls a target and returns its result. It
 * has a frame and a name of its own in every stack, and no frame pointer. If an
 * interpreter calls its evaluator through one trampoline for each function of
 * its language, profilers show these functions.
 *
 * * SFJIT_TRAMP_ARG - the caller passes the target as sixth integer argument;
 *   on s390x, which passes five in registers, as fifth.
 * * SFJIT_TRAMP_SLOT - sfjit_tramp_get() takes the target; the trampoline has
 *   the target's signature.
 * * SFJIT_TRAMP_RBP - as ARG, and rbp holds no frame address during the call,
 *   as in code that uses it as a general register. On other machines this is
 *   their frame pointer: x29, s0, r31, r11.
 * * SFJIT_TRAMP_SIGNED_A, SFJIT_TRAMP_SIGNED_B - AArch64: as SLOT, and the
 *   return address is signed with key A or B if the processor does that. The
 *   kernel cannot unwind through them.
 *
 * Arguments are passed through in registers; none may be on the stack. So there
 * are at most six integer arguments (five for ARG and RBP, plus the target) and
 * eight floating-point ones. A pointer to a result in memory counts as the
 * first. Results of any class and variable arguments work.
 *
 * A pool grows by windows of 4096 trampolines; 2048 on AArch64, s390x and
 * RISC-V, 1024 on PowerPC. The first one is mapped and registered here. A
 * window has 64 KiB of code, 64 KiB of data for SLOT and SIGNED, and a page for
 * its table. The code is written before the memory becomes executable; no
 * mapping is ever writable and executable. A window that cannot be registered
 * is used nevertheless: sfjit_pool_stat() has the error, which is -EOPNOTSUPP
 * on machines that SFrame has no number for (RISC-V, PowerPC). There
 * trampolines have names and the rows of a jitdump, but no table.
 *
 * Return:
 * * 0 - success. On failure @pool is not changed.
 * * -EINVAL - @kind is none of the above, or @pool is NULL.
 * * -EOPNOTSUPP - this machine does not have @kind.
 * * -ENOMEM - no memory, or the limit of mappings or of locked memory
 *   (RLIMIT_MEMLOCK) is reached.
 * * -EACCES, -EPERM - the system does not permit executable memory.
 */
int sfjit_pool_create(unsigned int kind, struct sfjit_pool **pool);

/**
 * sfjit_pool_retire - remove all windows of a pool
 * @pool:	pool to retire; NULL does nothing
 *
 * Unregisters each window, then unmaps it. Make sure first that no thread is in
 * a trampoline, will return through one, or uses @pool in another call; the
 * library cannot check this. Names stay in the perf map file. After a fork,
 * parent and child each have a pool.
 *
 * Return:
 * * 0 - success. @pool is gone in any case.
 * * -ENOMEM - a window could not be unmapped because of the limit of mappings.
 */
int sfjit_pool_retire(struct sfjit_pool *pool);

/**
 * sfjit_tramp_get - get a trampoline
 * @pool:	pool to take it from; it grows as needed
 * @target:	SLOT: function to call, not NULL. ARG and RBP: part of the
 *		identity only; may be NULL
 * @name:	symbol for profilers, copied; it goes to the perf map and to the
 *		files that sfjit_names_open() chose. A jitdump gets the rows,
 *		too. NULL or empty for none
 * @entry:	set to the trampoline; cast it to the type of the target
 *
 * The same @target and @name give the same trampoline again; you then need as
 * many calls of sfjit_tramp_put(). A name that could not be written is no
 * error.
 *
 * Return:
 * * 0 - success. On failure @entry is not changed.
 * * -EINVAL - @pool or @entry is NULL; @kind is SLOT and @target is NULL.
 * * -ENOMEM, -EACCES, -EPERM - no further window, as sfjit_pool_create().
 * * -EOVERFLOW - the trampoline is in use 4294967295 times.
 */
int sfjit_tramp_get(struct sfjit_pool *pool, const void *target,
		    const char *name, void **entry);

/**
 * sfjit_tramp_put - give back a trampoline
 * @pool:	pool it came from
 * @entry:	as set by sfjit_tramp_get()
 *
 * When you give it back for the last time, no thread may be in it. Never-used
 * trampolines are preferred for the next call, then the one unused for longest:
 * a line of the perf map cannot be taken back, so profilers may show either
 * name of a reused trampoline. A free trampoline of kind SLOT calls address 0.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @pool is NULL, or @entry is no trampoline of @pool.
 * * -ENOENT - @entry is not in use.
 */
int sfjit_tramp_put(struct sfjit_pool *pool, void *entry);

/**
 * struct sfjit_pool_info - state of a pool, see sfjit_pool_stat()
 * @windows:	windows mapped
 * @registered:	windows registered without error: all of them if the kernel has
 *		no SFrame windows
 * @used:	trampolines in use
 * @error:	-errno of the last failed registration, 0 if none failed
 */
struct sfjit_pool_info {
	unsigned int	windows;
	unsigned int	registered;
	unsigned int	used;
	int		error;
};

/**
 * sfjit_pool_stat - get the state of a pool
 * @pool:	pool to look at
 * @stat:	filled
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @pool or @stat is NULL.
 */
int sfjit_pool_stat(const struct sfjit_pool *pool,
		    struct sfjit_pool_info *stat);

/* ---- Names for profilers ----------------------------------------------- */

/**
 * sfjit_perf_map_name - write a line to the perf map of this process
 * @start:	first byte of the code
 * @length:	bytes of code, not 0
 * @name:	symbol, not empty; copied. Control characters become '?', and it
 *		is cut at 4000 bytes. perf ignores names of fewer than three
 *		bytes
 *
 * The file is /tmp/perf-PID.map. perf reads it for code in anonymous memory
 * only, and only if it belongs to perf's user or to root. For code in a memfd
 * or another file, or if addresses are reused, see sfjit_names_open().
 *
 * Each line opens the file and is one write(2) with O_APPEND: several producers
 * can share it, and no file descriptor stays open. A file older than the
 * process, left by another one with the same PID, is truncated first. Before
 * the first line of a forked child come all lines that its parent's file had at
 * the fork.
 *
 * Return:
 * * 0 - success. Most callers ignore errors.
 * * -EINVAL - @length is 0, the range wraps around, @name is NULL or empty.
 * * -EPERM - the file belongs to another user, has more than one name, or is
 *   not a regular file.
 * * -ELOOP - the file is a symbolic link.
 * * -ENOMEM - there was no memory for atfork handlers when the library was
 *   loaded.
 * * -EFBIG - the line would exceed RLIMIT_FSIZE; no signal is raised.
 * * -EIO - only a part of the line was written.
 * * other - as open(2) and write(2).
 */
int sfjit_perf_map_name(const void *start, size_t length, const char *name);

/**
 * sfjit_perf_map_sync - write the names that a forked child inherited
 *
 * For a child that gives no names itself but is profiled separately, for
 * example by perf record -p. Does nothing without inherited names.
 *
 * Return: as sfjit_perf_map_name().
 */
int sfjit_perf_map_sync(void);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_H */
