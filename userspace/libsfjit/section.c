// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Sections from rows, by the encoder of sframegen.
 */
#include <errno.h>
#include <stdbool.h>

#include <sframegen.h>

#include "internal.h"

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
	ret = sfg_section_size(SFG_HOST_ABI, functions, nr, &size, NULL);
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
	ret = sfg_write_section(SFG_HOST_ABI, functions, nr,
				(uintptr_t)section, section, length,
				&length, NULL);
	return ret ? ret : size;
}

void sfjit_write_header(void *section)
{
	size_t used;

	sfg_write_section(SFG_HOST_ABI, NULL, 0, (uintptr_t)section, section,
			  sizeof(struct sframe_header), &used, NULL);
}

int sfjit_write_function(const struct sfjit_function *function,
			 const struct sfg_place *place, size_t *used)
{
	if (has_flags(function, 1))
		return -EINVAL;
	return sfg_write_fde(SFG_HOST_ABI, function, place, used, NULL);
}
