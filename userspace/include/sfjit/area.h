/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_AREA_H
#define SFJIT_AREA_H

#include <stddef.h>

#include <sfjit/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_area - publish and withdraw functions in any order
 *
 * An area is a window for free lists, for code that is filled downwards, and
 * for compilers that finish in another order than they began. Several threads
 * may use it at once, and no call for a function is a system call.
 *
 * The area is divided into granules of 16, 32 or 64 bytes, and no two functions
 * may start in the same granule. Each granule has an entry in the section,
 * which is therefore larger than that of a live window, and does not grow.
 *
 * Calls for functions that do not overlap may run in parallel. There is nothing
 * to reserve: take the addresses from your allocator, emit and relocate, then
 * publish.
 *
 * You may fork at any time. If another thread was publishing or withdrawing a
 * function, the child can withdraw it, which may return -ENOENT, and publish it
 * again. Until then stacks end in it, and sfjit_check() may return "fde_order".
 */
struct sfjit_area;

/**
 * sfjit_area_create - make an area without functions
 * @text:	first byte of the area, a multiple of @granule; the key of the
 *		window
 * @length:	bytes of the area, at most 16777216 granules
 * @granule:	16, 32 or 64; 0: 64
 * @rows:	rows that a function may have for each granule that it covers,
 *		at most 1024; 0: 14. A row counts as 4 bytes; most take 3
 * @area:	set to the area; release it with sfjit_area_retire()
 *
 * The area is mapped as for sfjit_live_create(). The section takes
 * 16 bytes of memory for each granule at once, and more as functions are
 * published. If the window cannot be registered the call still succeeds:
 * sfjit_area_stat() has the error.
 *
 * Return:
 * * 0 - success. On failure @area is not changed.
 * * -EINVAL - @area or @text is NULL, @length is 0, the range wraps around,
 *   @granule is none of these, or @text is not a multiple of it.
 * * -E2BIG - too many granules or rows, or a section of more than 4 GiB.
 * * -ENOMEM - no memory, or the limit of mappings or of locked memory
 *   (RLIMIT_MEMLOCK) is reached.
 */
int sfjit_area_create(const void *text, size_t length, unsigned int granule,
		      unsigned int rows, struct sfjit_area **area);

/**
 * sfjit_area_publish - make a function walkable
 * @area:	area it lies in
 * @function:	function and rows, as in sfjit_section_size()
 *
 * Like sfjit_live_publish(), but in any order. Walks through other functions
 * are not disturbed, except very rarely: a walk ends if two entries that it
 * reads change meanwhile. Time is that of the function's rows and granules.
 *
 * Context: async-signal-safe in a handler that does not interrupt another call
 * for the same function. Takes no lock.
 *
 * Return:
 * * 0 - success. On failure nothing has changed.
 * * -EINVAL - @area or @function is NULL; the function is not within the area;
 *   it or a row breaks a rule of sfjit_section_size().
 * * -EEXIST - it overlaps a published function, or one starts in the granule in
 *   which it starts; or it has more than 64 rows, and a function starts in the
 *   granule in which it ends.
 * * -E2BIG - it has more rows than there is space for, or repeats and has more
 *   than 64 rows.
 * * -ENOTSUP - as sfjit_section_size().
 */
int sfjit_area_publish(struct sfjit_area *area,
		       const struct sfjit_function *function);

/**
 * sfjit_area_withdraw - withdraw a function
 * @area:	area it was published in
 * @start:	first byte of the function
 *
 * Wait until no thread runs the function or returns to it, withdraw it, then
 * reuse its memory. You can publish another function there at once. Makes no
 * system call, takes no lock and allocates nothing.
 *
 * Context: as sfjit_area_publish().
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @area is NULL.
 * * -ENOENT - no published function starts there.
 */
int sfjit_area_withdraw(struct sfjit_area *area, const void *start);

/**
 * sfjit_area_reset - withdraw all functions that start in a range
 * @area:	area they were published in
 * @start:	first byte of the range; NULL for the whole area
 * @length:	bytes; 0 for the whole area
 *
 * Like sfjit_area_withdraw() for each of them. Time is that of the range's
 * granules.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @area is NULL, one of @start and @length is 0, or the range is
 *   not within the area.
 */
int sfjit_area_reset(struct sfjit_area *area, const void *start, size_t length);

/**
 * sfjit_area_retire - remove an area's window and free its section
 * @area:	area to retire; NULL does nothing
 *
 * Like sfjit_live_retire().
 *
 * Return:
 * * 0 - success. @area is gone in any case.
 * * -ENOMEM - the section could not be unmapped because of the limit of
 *   mappings.
 */
int sfjit_area_retire(struct sfjit_area *area);

/**
 * struct sfjit_area_info - state of an area, see sfjit_area_stat()
 * @section:	SFrame section, valid until the area is retired
 * @length:	bytes of @section
 * @granules:	number of granules
 * @functions:	published functions
 * @error:	as in sfjit_live_info(3type)
 */
struct sfjit_area_info {
	const void	*section;
	size_t		length;
	unsigned int	granules;
	unsigned int	functions;
	int		error;
};

/**
 * sfjit_area_stat - get the state of an area
 * @area:	area to look at
 * @stat:	filled
 *
 * Time is that of the granules.
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
