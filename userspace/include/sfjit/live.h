/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_LIVE_H
#define SFJIT_LIVE_H

#include <stddef.h>

#include <sfjit/code.h>
#include <sfjit/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_live - append functions to a window without a system call
 *
 * A live window is for code that is appended to an area. The library owns the
 * section and writes to it; the kernel reads the number of functions for each
 * frame that it unwinds.
 *
 * Addresses ascend: each function lies after all that were published before.
 * Nothing that was published changes, except that a function can be withdrawn.
 * For code in any order use sfjit_area_create().
 *
 * Make calls with the same window one at a time. The lock under which a JIT
 * allocates addresses for its code does this, because functions are published
 * in the order of their addresses. Calls with different windows may run in
 * parallel.
 *
 * You may fork at any time, also while another thread publishes: in the child
 * that function either is published or can be.
 *
 * On a kernel without live windows every call does the same to memory, and only
 * the stacks are shorter.
 *
 * userspace/examples/live_jit.c is a complete program.
 */
struct sfjit_live;

/**
 * sfjit_live_create - make a live window without functions
 * @text:	first byte of the area for code; the key of the window
 * @length:	bytes of the area
 * @functions:	minimum number of functions it can take, up to 16777216; 0: one
 *		for each 64 bytes of @length. A function with more than 64 rows
 *		counts once for each 64
 * @rows:	minimum number of rows that these can have together; 0: four for
 *		each function
 * @live:	set to the window; release it with sfjit_live_retire()
 *
 * The whole area must be mapped at the time of the call. It may be a second
 * mapping of the memory that your JIT writes to. Permissions do not matter.
 *
 * The section reserves address space for rows of the largest size and uses
 * memory as it fills: 16 bytes for a function, and 5 plus mostly 3 for each
 * row. After mlockall(MCL_FUTURE) all of it is locked memory from the start:
 * pass the numbers of functions and rows then.
 *
 * If the window cannot be registered the call still succeeds: sfjit_live_stat()
 * has the error.
 *
 * Return:
 * * 0 - success. On failure @live is not changed.
 * * -EINVAL - @live or @text is NULL, @length is 0, or the range wraps around.
 * * -E2BIG - too many functions, or a section of more than 4 GiB.
 * * -ENOMEM - no memory, or the limit of mappings or of locked memory
 *   (RLIMIT_MEMLOCK) is reached.
 */
int sfjit_live_create(const void *text, size_t length, size_t functions,
		      size_t rows, struct sfjit_live **live);

/**
 * sfjit_live_publish - make a function walkable
 * @live:	window to add it to
 * @function:	function and rows, as in sfjit_section_size()
 *
 * Write the code, publish it, let threads run it. Then a walk on any CPU that
 * meets the function finds it with all its rows, if the walk can read the
 * section. A deferred walk (perf's fp,defer) can: it faults in missing pages. A
 * walk in an NMI (perf's fp) cannot. It ends at the function if a page that it
 * needs is not mapped at that moment: swapped out, being migrated, marked for
 * NUMA balancing, or being copied by the first publish after a fork, which
 * writes to it.
 *
 * The library keeps no reference to @function. A function with more than 64
 * rows takes one entry for each 64. They appear at once, and one call withdraws
 * them.
 *
 * Makes no system call, takes no lock and allocates nothing; memory of the
 * section may be touched for the first time. Naming the function with
 * sfjit_perf_map_name() costs far more: name functions on request only.
 *
 * Example::
 *
 *	ret = sfjit_live_publish(live, function);
 *	if (ret == -ENOSPC) {
 *		sfjit_live_grow(live, NULL, 0, 0, 0);
 *		ret = sfjit_live_publish(live, function);
 *	}
 *
 * Context: async-signal-safe in a handler that does not interrupt another call
 * for @live.
 *
 * Return:
 * * 0 - success. On failure nothing has changed.
 * * -EINVAL - @live or @function is NULL; the function is not within the area;
 *   it or a row breaks a rule of sfjit_section_size().
 * * -EEXIST - it starts before the end of a function that was published
 *   earlier, even if that one was withdrawn.
 * * -E2BIG - it repeats and has more than 64 rows.
 * * -ENOSPC - the section is full: call sfjit_live_grow().
 * * -ENOTSUP - as sfjit_section_size().
 */
int sfjit_live_publish(struct sfjit_live *live,
		       const struct sfjit_function *function);

/**
 * sfjit_live_publish_eh_frame - publish functions by call frame information
 * @live:	window to add it to
 * @eh_frame:	as in sfjit_register_eh_frame()
 * @length:	as in sfjit_register_eh_frame()
 * @text:	the code, a range of the area
 * @flags:	as in sfjit_register_eh_frame()
 * @start:	NULL, or set to the start of its first function, which
 *		sfjit_live_withdraw() takes
 *
 * Publishes all functions of @text as sfjit_live_publish() does. They appear at
 * once, and one call withdraws all of them. An entry of the section has up to
 * 16 rows, of one function or of several. The code must be written, relocated
 * and readable. @eh_frame and the code follow the rules of
 * sfjit_register_eh_frame(). The next @text may begin where the last function
 * ends.
 *
 * Makes no system call of its own and does not take the library's lock, but
 * allocates: it is not async-signal-safe. Time is O(n log n).
 *
 * Return:
 * * 0 - success. On failure nothing has changed.
 * * -EINVAL - @live, @eh_frame or @text is NULL; @length is 0; @text is empty
 *   or not within the area; @flags has unknown bits; @eh_frame is malformed.
 * * -EEXIST - @text starts before the end of a function that was published
 *   earlier, even if that one was withdrawn.
 * * -ENOENT - no function of @text has rows: it does not belong to @eh_frame,
 *   or @eh_frame is not relocated yet.
 * * -ENOSPC - the section is full: call sfjit_live_grow().
 * * -E2BIG - it exceeds the limits of a section.
 * * -ENOMEM - no memory.
 * * -EOPNOTSUPP - SFrame has no number for this machine.
 */
int sfjit_live_publish_eh_frame(struct sfjit_live *live, const void *eh_frame,
				size_t length, const struct sfjit_range *text,
				unsigned int flags, const void **start);

/**
 * sfjit_live_withdraw - withdraw a function
 * @live:	window it was published in
 * @start:	first byte of the function, or of the first function that
 *		sfjit_live_publish_eh_frame() published in one call
 *
 * Wait until no thread runs the function or returns to it, withdraw it, then
 * reuse its memory, for data or code. A walk that reaches it from now on ends
 * there.
 *
 * Its entry and rows stay, with a size of 0, until sfjit_live_grow() makes a
 * section without them. Until then no function can be published at its
 * addresses, and stacks end in code that you put there. Time is O(log n). Makes
 * no system call, takes no lock and allocates nothing.
 *
 * Context: as sfjit_live_publish().
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @live is NULL.
 * * -ENOENT - no published function starts there.
 */
int sfjit_live_withdraw(struct sfjit_live *live, const void *start);

/**
 * sfjit_live_grow - give a window a new section
 * @live:	window to change
 * @text:	NULL: the area stays; otherwise the new area, which equals or
 *		contains the old one. The key stays
 * @length:	bytes of the new area; 0 with @text NULL
 * @functions:	how many more functions it must take; 0: as many again as the
 *		section was made for
 * @rows:	how many more rows; 0: as much space again as there is
 *
 * Copies the functions into a larger section, without those that were
 * withdrawn: their entries, and text after the last remaining function, are
 * free again. Then replaces the section as sfjit_replace() does. If the window
 * could not be registered before, tries again.
 *
 * Makes two system calls to map, one to register, one to unmap. Time is O(n);
 * with doubling that is a constant for each function.
 *
 * Return:
 * * 0 - success. On failure nothing has changed.
 * * -EINVAL - @live is NULL; the new area does not contain the old one, or is
 *   not mapped.
 * * -E2BIG, -ENOMEM - as sfjit_live_create().
 * * -EEXIST - the new area overlaps another window.
 * * -EINTR - a fatal signal is pending.
 */
int sfjit_live_grow(struct sfjit_live *live, const void *text, size_t length,
		    size_t functions, size_t rows);

/**
 * sfjit_live_reset - withdraw all functions of a window
 * @live:	window to empty
 *
 * Wait until no thread runs code of the area or returns to it, reset, then
 * reuse the memory. A walk that reaches code of the area from now on ends
 * there. All of the section and of the area is free again: the next function
 * may be published anywhere. Time is O(1). Makes no system call, takes no lock
 * and allocates nothing.
 *
 * Context: as sfjit_live_publish().
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @live is NULL.
 */
int sfjit_live_reset(struct sfjit_live *live);

/**
 * sfjit_live_retire - remove a window and free its section
 * @live:	window to retire; NULL does nothing
 *
 * Retire it, wait until no thread runs code of the area or returns to it, then
 * unmap the area.
 *
 * Return:
 * * 0 - success. @live is gone in any case.
 * * -ENOMEM - the section could not be unmapped because of the limit of
 *   mappings.
 */
int sfjit_live_retire(struct sfjit_live *live);

/**
 * struct sfjit_live_info - state of a live window, see sfjit_live_stat()
 * @section:	SFrame section, valid until the window grows or is retired
 * @length:	bytes of @section
 * @room:	bytes left for rows
 * @functions:	published entries, including withdrawn ones; a function has one
 *		for each 64 rows
 * @withdrawn:	withdrawn entries
 * @capacity:	maximum number of entries
 * @error:	-errno of the registration, as sfjit_register(); 0 if the kernel
 *		has no windows; -EOPNOTSUPP if it has windows but no live ones
 */
struct sfjit_live_info {
	const void	*section;
	size_t		length;
	size_t		room;
	unsigned int	functions;
	unsigned int	withdrawn;
	unsigned int	capacity;
	int		error;
};

/**
 * sfjit_live_stat - get the state of a live window
 * @live:	window to look at
 * @stat:	filled
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @live or @stat is NULL.
 */
int sfjit_live_stat(const struct sfjit_live *live,
		    struct sfjit_live_info *stat);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_LIVE_H */
