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
 * DOC: sfjit_check - find out what the kernel makes of a table
 *
 * On a kernel without windows every registration succeeds, and a wrong table
 * changes nothing. Use these calls in the tests of a JIT. They tell, on any
 * kernel, whether the kernel would take a packed table or SFrame section, and each
 * row in it. Whether a row is true they cannot tell: that depends on the code.
 *
 * They read nothing but the table, do not ask the kernel, allocate nothing, and
 * are async-signal-safe.
 */

#define SFJIT_TABLE_LIVE	0x1

/**
 * struct sfjit_table - a table and the code that it is registered for
 * @section:	as in sfjit_register()
 * @length:	as in sfjit_register()
 * @text:	as in sfjit_register()
 * @text_length: as in sfjit_register()
 * @flags:	SFJIT_TABLE_LIVE: the table of an area, as sfjit_area_stat()
 *		returns it, may change. Packed tables are the same without it
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
 * struct sfjit_complaint - why a table is refused
 * @reason:	a constant string. If @address is NULL: why the table cannot
 *		be registered, in words. Otherwise: why stacks end there, by its
 *		name in /proc/PID/sframe, such as row_order
 * @address:	code where stacks end, or NULL
 */
struct sfjit_complaint {
	const char	*reason;
	const void	*address;
};

/**
 * sfjit_check - check whether the kernel takes a table and each row in it
 * @table:	table to check; do not change it meanwhile
 * @complaint:	NULL, or filled if the table is refused
 *
 * Some mistakes are refused although the kernel would not notice: functions of a
 * section that overlap, or that are not in the text; in a packed table, changes of
 * a block that do not increase, or that it is for other code than the text. Code
 * that has no function is allowed: stacks end there. The call does not check
 * whether the text is mapped or overlaps another window. Time grows with the number
 * of rows, and faster in functions of a section that have many rows.
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
 * @function:	NULL, or filled with the function, without its rows; of a
 *		packed table, with the code around @ip that has the row
 * @row:	filled; its start counts from the function, or from the block if
 *		the function repeats
 * @complaint:	as in sfjit_check()
 *
 * If @function has SFJIT_FUNCTION_SIGNAL and no rows, it is the return from a
 * signal handler: the kernel knows the frame, and @row means nothing. If @row has
 * the flag SFJIT_ROW_FP, the code keeps frame pointers, and the rules are 0.
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
