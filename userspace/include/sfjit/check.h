/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_CHECK_H
#define SFJIT_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include <sfjit/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_check - find out what the kernel makes of a section
 *
 * On a kernel without windows every registration succeeds, and a wrong section
 * changes nothing. Use these calls in the tests of a JIT. They tell, on any
 * kernel, whether the kernel would take a section and each row in it. Whether a
 * row is true they cannot tell: that depends on the code.
 *
 * They read nothing but the section, do not ask the kernel, allocate nothing,
 * and are async-signal-safe.
 */

#define SFJIT_TABLE_LIVE	0x1
#define SFJIT_TABLE_PLAIN	0x2

/**
 * struct sfjit_table - a section and the code that it is registered for
 * @section:	as in sfjit_register()
 * @length:	as in sfjit_register()
 * @text:	as in sfjit_register()
 * @text_length: as in sfjit_register()
 * @flags:	SFJIT_TABLE_LIVE: the section of a live window, as
 *		sfjit_live_stat() returns it; SFJIT_TABLE_PLAIN: read it as a
 *		kernel that knows no addends
 * @bias:	as in sfjit_register_biased()
 */
struct sfjit_table {
	const void	*section;
	size_t		length;
	const void	*text;
	size_t		text_length;
	unsigned int	flags;
	uintptr_t	bias;
};

/**
 * struct sfjit_complaint - why a section is refused
 * @reason:	a constant string. If @address is NULL: why the section cannot
 *		be registered, in words. Otherwise: why stacks end there, by its
 *		name in /proc/PID/sframe, such as row_order
 * @address:	code where stacks end, or NULL
 */
struct sfjit_complaint {
	const char	*reason;
	const void	*address;
};

/**
 * sfjit_check - check whether the kernel takes a section and each row in it
 * @table:	section to check; do not change it meanwhile
 * @complaint:	NULL, or filled if the section is refused
 *
 * Functions that overlap, or that are not in the text, are refused too,
 * although the kernel would not notice. Code that the section has no function
 * for is allowed: stacks end there. The call does not check whether the text is
 * mapped or overlaps another window. Time grows with the number of
 * rows, and faster in functions with many rows.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @table is NULL, or sfjit_register() would return this.
 * * -EBADMSG - it would be registered, but stacks end at an address in it;
 *   @complaint has the first one.
 */
int sfjit_check(const struct sfjit_table *table,
		struct sfjit_complaint *complaint);

/**
 * sfjit_find_row - find the row by which the kernel steps from an address
 * @table:	as in sfjit_check()
 * @ip:		address of an instruction; for a caller, the return address
 *		minus 1
 * @function:	NULL, or filled with the function, without its rows
 * @row:	filled; its start counts from the function, or from the block if
 *		the function repeats
 * @complaint:	as in sfjit_check()
 *
 * If @function has SFJIT_FUNCTION_SIGNAL and no rows, it is the return from a
 * signal handler: the kernel knows the frame, and @row means nothing.
 *
 * Return:
 * * 0 - success. On failure only @complaint may be changed.
 * * -EINVAL - as sfjit_check(), or @row is NULL.
 * * -ENOENT - @ip is not in the text, or no function covers it.
 * * -EBADMSG - stacks end at @ip.
 */
int sfjit_find_row(const struct sfjit_table *table, const void *ip,
		   struct sfjit_function *function, struct sfjit_row *row,
		   struct sfjit_complaint *complaint);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_CHECK_H */
