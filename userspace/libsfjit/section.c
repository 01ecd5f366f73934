// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Sections from rows: the encoder of sframegen behind the public types.
 */
#include <errno.h>
#include <stdbool.h>

#include <sframegen.h>
#include <sfjit_trampoline.h>

#include "internal.h"

/*
 * The public types are those of the encoder under names of this library, so
 * that nothing is copied. Change them together.
 */
#define SAME_MEMBER(ours, theirs, member, their_member) \
	_Static_assert(offsetof(struct ours, member) == \
		       offsetof(struct theirs, their_member) && \
		       sizeof(((struct ours *)0)->member) == \
		       sizeof(((struct theirs *)0)->their_member), \
		       #ours "." #member " differs")

SAME_MEMBER(sfjit_rule, sfg_rule, offset, offset);
SAME_MEMBER(sfjit_rule, sfg_rule, reg, reg);
SAME_MEMBER(sfjit_rule, sfg_rule, base, base);
SAME_MEMBER(sfjit_rule, sfg_rule, deref, deref);
SAME_MEMBER(sfjit_row, sfg_row, start, start);
SAME_MEMBER(sfjit_row, sfg_row, flags, flags);
SAME_MEMBER(sfjit_row, sfg_row, cfa, cfa);
SAME_MEMBER(sfjit_row, sfg_row, ra, ra);
SAME_MEMBER(sfjit_row, sfg_row, fp, fp);
SAME_MEMBER(sfjit_function, sfg_fde, addr, addr);
SAME_MEMBER(sfjit_function, sfg_fde, size, size);
SAME_MEMBER(sfjit_function, sfg_fde, nr_rows, nr_rows);
SAME_MEMBER(sfjit_function, sfg_fde, rows, rows);
SAME_MEMBER(sfjit_function, sfg_fde, flags, flags);
SAME_MEMBER(sfjit_function, sfg_fde, repeat, rep_size);
_Static_assert(sizeof(struct sfjit_row) == sizeof(struct sfg_row) &&
	       sizeof(struct sfjit_function) == sizeof(struct sfg_fde),
	       "an array of rows or functions differs");
_Static_assert(SFJIT_BASE_NONE == SFG_BASE_NONE &&
	       SFJIT_BASE_CFA == SFG_BASE_CFA &&
	       SFJIT_BASE_REG == SFG_BASE_REG &&
	       SFJIT_ROW_OUTERMOST == SFG_ROW_OUTERMOST,
	       "a constant differs");

/* The architecture this library is built for, as its own template has it. */
static unsigned int host_abi(void)
{
	return sfjit_tramp_arg_sframe[offsetof(struct sframe_header, abi_arch)];
}

static const struct sfg_fde *as_fdes(const struct sfjit_function *functions)
{
	return (const struct sfg_fde *)functions;
}

/* The encoder's flags are for signal frames and for other architectures. */
static bool has_flags(const struct sfjit_function *functions, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (functions[i].flags)
			return true;
	return false;
}

long sfjit_section_size(const struct sfjit_function *functions, size_t nr)
{
	size_t size;
	int ret;

	if (!functions || !nr || has_flags(functions, nr))
		return -EINVAL;
	ret = sfg_section_size(host_abi(), as_fdes(functions), nr, &size, NULL);
	return ret ? ret : (long)size;
}

long sfjit_section_fill(void *section, size_t length,
			const struct sfjit_function *functions, size_t nr)
{
	long size = sfjit_section_size(functions, nr);
	int ret;

	if (size < 0)
		return size;
	if (!section)
		return -EINVAL;
	if (length < (size_t)size)
		return -ENOSPC;
	ret = sfg_write_section(host_abi(), as_fdes(functions), nr,
				(uintptr_t)section, section, length,
				&length, NULL);
	return ret ? ret : size;
}

int sfjit_write_function(const struct sfjit_function *function,
			 const struct sfg_place *place, size_t *used)
{
	if (has_flags(function, 1))
		return -EINVAL;
	return sfg_write_fde(host_abi(), as_fdes(function), place, used, NULL);
}
