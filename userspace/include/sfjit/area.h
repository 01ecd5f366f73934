/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_AREA_H
#define SFJIT_AREA_H

#include <stddef.h>

#include <sfjit/code.h>
#include <sfjit/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_area - publish and withdraw functions without a system call
 *
 * An area is a window for code that comes and goes: code that is appended, free
 * lists, compilers that finish in another order than they began, code that
 * moves. The library owns a packed table and writes to it; the kernel reads it
 * for each frame that it unwinds.
 *
 * Functions may be published in any order and anywhere in the area, also next
 * to each other. There is nothing to reserve: take the addresses from your
 * allocator, emit and relocate, then publish.
 *
 * Several threads may publish and withdraw functions at once, as long as these
 * do not overlap. sfjit_area_grow(), a sfjit_area_reset() of the whole area and
 * sfjit_area_retire() must be the only call for the area: if several threads
 * publish, take a lock for reading around these calls, and for writing around
 * those.
 *
 * Each change takes some bytes of the table, which become free again when the
 * area grows or is reset. So a call may return -ENOSPC: call sfjit_area_grow()
 * and then try again.
 *
 * You may fork at any time. If another thread was publishing or withdrawing a
 * function, the child can withdraw it, which may return -ENOENT, and publish it
 * again. Until then stacks may end in it.
 *
 * On a kernel without packed tables every call does the same to memory, and
 * only the stacks are shorter.
 *
 * userspace/examples/area_jit.c is a complete program.
 */
struct sfjit_area;

/**
 * sfjit_area_create - make an area without functions
 * @text:	first byte of the area, where an instruction may be; the key of
 *		the window
 * @length:	bytes of the area, at most 4 GiB less 4 KiB
 * @rules:	number of different rules that its table has room for, up to
 *		65535; 0: one for each 64 bytes of @length, from 256 to 4096. A
 *		rule that functions also begin with counts twice, as does one
 *		with an addend
 * @blocks:	bytes for the places of rows, up to 1 GiB; 0: @length
 * @area:	set to the area; release it with sfjit_area_retire()
 *
 * The whole area must be mapped at the time of the call. It may be a second
 * mapping of the memory that your JIT writes to. Permissions do not matter.
 *
 * The table reserves address space and uses memory as it fills: mostly 2 bytes
 * for a row, 4 bytes for each 256 bytes of code, and in steps of 1 KiB for each
 * 4 KiB of code. A change of a function also copies the rows of those that
 * share 256 bytes with it, and what was there before stays in use: with small
 * functions that is more than all rows together. On AArch64 each 256 bytes are
 * 1024, on s390x 512. After mlockall(MCL_FUTURE) all of the table is locked
 * memory from the start: pass smaller numbers then.
 *
 * If the window cannot be registered the call still succeeds: sfjit_area_stat()
 * has the error.
 *
 * Return:
 * * 0 - success. On failure @area is not changed.
 * * -EINVAL - @area or @text is NULL, @length is 0, the range wraps around, or
 *   no instruction can be at @text.
 * * -E2BIG - @length, @rules or @blocks is too large.
 * * -ENOMEM - no memory, or the limit of mappings or of locked memory
 *   (RLIMIT_MEMLOCK) is reached.
 */
int sfjit_area_create(const void *text, size_t length, size_t rules,
		      size_t blocks, struct sfjit_area **area);

/**
 * sfjit_area_publish - make a function walkable
 * @area:	area it lies in
 * @function:	function and rows, as in sfjit_section_size(); it may have any
 *		number of rows
 *
 * Write the code, publish it, let threads run it. Then a walk on any CPU that
 * meets the function finds all of its rows, if the walk can read the table. A
 * deferred walk (perf's fp,defer) can: it faults in missing pages. A walk in an
 * NMI (perf's fp) cannot. It ends at the function if a page that it needs is
 * not mapped at that moment: swapped out, being migrated, marked for NUMA
 * balancing, or being copied by the first publish after a fork, which writes to
 * it. Walks through other functions are never disturbed.
 *
 * The library keeps no reference to @function. A row that starts inside of an
 * instruction starts with the next one.
 *
 * Makes no system call, takes no lock and allocates nothing; memory of the
 * table may be touched for the first time. Time is that of the function's rows
 * and of those that share 256 bytes of code with it. Naming the function with
 * sfjit_perf_map_name() costs far more: name functions on request only.
 *
 * Example::
 *
 *	ret = sfjit_area_publish(area, function);
 *	if (ret == -ENOSPC) {
 *		sfjit_area_grow(area, NULL, 0, 0, 0);
 *		ret = sfjit_area_publish(area, function);
 *	}
 *
 * Context: async-signal-safe in a handler that does not interrupt another call
 * for the same function.
 *
 * Return:
 * * 0 - success. On failure nothing has changed.
 * * -EINVAL - @area or @function is NULL; the function is not within the area,
 *   or no instruction can be at its start; it or a row breaks a rule of
 *   sfjit_section_size().
 * * -EEXIST - it overlaps a published function.
 * * -ENOSPC - the table is full: call sfjit_area_grow().
 * * -ENOTSUP - as sfjit_section_size().
 */
int sfjit_area_publish(struct sfjit_area *area,
		       const struct sfjit_function *function);

/**
 * sfjit_area_publish_eh_frame - publish functions by call frame information
 * @area:	area they lie in
 * @eh_frame:	as in sfjit_register_eh_frame()
 * @length:	as in sfjit_register_eh_frame()
 * @text:	the code, a range of the area
 * @flags:	as in sfjit_register_eh_frame()
 * @start:	NULL, or set to the start of the first function, which
 *		sfjit_area_withdraw() takes
 *
 * Publishes all functions of @text as one: sfjit_area_withdraw() withdraws all
 * of them, and nothing can be published between them. The code must be written,
 * relocated and readable. @eh_frame and the code follow the rules of
 * sfjit_register_eh_frame().
 *
 * Makes no system call of its own and does not take the library's lock, but
 * allocates: it is not async-signal-safe. Time is O(n log n).
 *
 * Return:
 * * 0 - success. On failure nothing has changed.
 * * -EINVAL - @area, @eh_frame or @text is NULL; @length is 0; @text is empty
 *   or not within the area; @flags has unknown bits; @eh_frame is malformed.
 * * -EEXIST - a published function is between the first and the last one.
 * * -ENOENT - no function of @text has rows: it does not belong to @eh_frame,
 *   or @eh_frame is not relocated yet.
 * * -ENOSPC - the table is full: call sfjit_area_grow().
 * * -E2BIG - @eh_frame is too large.
 * * -ENOMEM - no memory.
 * * -EOPNOTSUPP - SFrame has no number for this machine.
 */
int sfjit_area_publish_eh_frame(struct sfjit_area *area, const void *eh_frame,
				size_t length, const struct sfjit_range *text,
				unsigned int flags, const void **start);

/**
 * sfjit_area_withdraw - withdraw a function
 * @area:	area it was published in
 * @start:	first byte of the function, or of the first function that
 *		sfjit_area_publish_eh_frame() published in one call
 *
 * Wait until no thread runs the function or returns to it, withdraw it, then
 * reuse its memory, for data or code. A walk that reaches it from now on ends
 * there. You can publish another function there at once.
 *
 * Makes no system call, takes no lock and allocates nothing. Time is as that of
 * sfjit_area_publish(). Needs bytes of the table if other functions share 256
 * bytes of code with it; an eighth of the table is kept for that.
 *
 * Context: as sfjit_area_publish().
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @area is NULL.
 * * -ENOENT - no published function starts there.
 * * -ENOSPC - the table is full: call sfjit_area_grow(), and withdraw the
 *   function then. Until then some of its rows may be there.
 */
int sfjit_area_withdraw(struct sfjit_area *area, const void *start);

/**
 * sfjit_area_reset - withdraw all functions that start in a range
 * @area:	area they were published in
 * @start:	first byte of the range; NULL for the whole area
 * @length:	bytes; 0 for the whole area
 *
 * Like sfjit_area_withdraw() for each of them. In addition the bytes of the
 * table are free again for each 4 KiB of the area, counted from its start, that
 * are in the range; if the range is the whole area, all of the table is. So
 * nothing of the range may be published during the call.
 *
 * Time is that of the range and of the table. Makes no system call, takes no
 * lock and allocates nothing.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @area is NULL, one of @start and @length is 0, or the range is
 *   not within the area.
 * * -ENOSPC - as sfjit_area_withdraw(); not if no function of another range is
 *   within 256 bytes of code.
 */
int sfjit_area_reset(struct sfjit_area *area, const void *start, size_t length);

/**
 * sfjit_area_grow - give an area a new table
 * @area:	area to change
 * @text:	NULL: the area stays; otherwise the new area, which equals or
 *		contains the old one. The key stays
 * @length:	bytes of the new area; 0 with @text NULL
 * @rules:	number of rules that the new table has room for; 0: at least as
 *		many as now, and twice as many as functions use
 * @blocks:	bytes for the places of rows; 0: at least as many as now, and
 *		twice as many as functions use
 *
 * Copies the functions into a new table, without what earlier changes have left
 * in the old one, and replaces that as sfjit_replace() does. If @rules or
 * @blocks is too small for the functions, the new table is larger. If the
 * window could not be registered before, tries again.
 *
 * Makes two system calls to map, one to register, one to unmap. Time is O(n).
 *
 * Return:
 * * 0 - success. On failure nothing has changed.
 * * -EINVAL - @area is NULL; the new area does not contain the old one, is not
 *   mapped, or does not begin where an instruction can be.
 * * -E2BIG, -ENOMEM - as sfjit_area_create().
 * * -EBUSY - the area has an epoch, and @text is not NULL.
 * * -EEXIST - the new area overlaps another window.
 * * -EINTR - a fatal signal is pending.
 */
int sfjit_area_grow(struct sfjit_area *area, const void *text, size_t length,
		    size_t rules, size_t blocks);

/**
 * sfjit_area_retire - remove an area's window and free its table
 * @area:	area to retire; NULL does nothing
 *
 * Retire it, wait until no thread runs code of the area or returns to it, then
 * unmap the area.
 *
 * Return:
 * * 0 - success. @area is gone in any case.
 * * -ENOMEM - the table could not be unmapped because of the limit of mappings.
 */
int sfjit_area_retire(struct sfjit_area *area);

/**
 * struct sfjit_area_info - state of an area, see sfjit_area_stat()
 * @table:	packed table, valid until the area grows or is retired
 * @length:	bytes of @table
 * @room:	bytes for the places of rows that no function has taken, in steps
 *		of 1 KiB, without those that are kept for withdrawing
 * @functions:	published functions; those of one sfjit_area_publish_eh_frame()
 *		are one
 * @rules:	rules that are in use
 * @max_rules:	rules that there is room for
 * @error:	-errno of the registration, as sfjit_register(); 0 if the kernel
 *		has no windows; -EOPNOTSUPP if it has windows but no packed tables
 */
struct sfjit_area_info {
	const void	*table;
	size_t		length;
	size_t		room;
	size_t		functions;
	unsigned int	rules;
	unsigned int	max_rules;
	int		error;
};

/**
 * sfjit_area_stat - get the state of an area
 * @area:	area to look at
 * @stat:	filled
 *
 * Time is that of all functions.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @area or @stat is NULL.
 */
int sfjit_area_stat(const struct sfjit_area *area,
		    struct sfjit_area_info *stat);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_AREA_H */
