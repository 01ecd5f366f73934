// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Tables from rows, encoded by sframegen.
 */
#include <errno.h>
#include <stdbool.h>

#include <sframegen.h>

#include "internal.h"

/* Functions that the encoder accepts but that are of no use here. */
static int check_function(const struct sfjit_function *function)
{
	uint32_t i;

	/* Flags are for signal frames and for other architectures. */
	if (function->flags)
		return -EINVAL;
	for (i = 0; i < function->nr_rows; i++)
		if (function->rows[i].flags & ~SFJIT_ROW_GIVEN)
			return -EINVAL;
	return sfg_cfas_are_possible(SFG_HOST_ABI, function->rows,
				     function->nr_rows) ? 0 : -EINVAL;
}

static int check_functions(const struct sfjit_function *functions, size_t nr)
{
	int ret = functions && nr ? 0 : -EINVAL;
	size_t i;

	for (i = 0; i < nr && !ret; i++)
		ret = check_function(&functions[i]);
	return ret;
}

long sfjit_section_size(const struct sfjit_function *functions, size_t nr)
{
	int ret = check_functions(functions, nr);
	size_t size;

	if (!ret)
		ret = sfg_packed_size(SFG_HOST_ABI, functions, nr, &size, NULL);
	return ret ? ret : (long)size;
}

long sfjit_section_fill(void *section, size_t length,
			const struct sfjit_function *functions, size_t nr)
{
	int ret = check_functions(functions, nr);
	size_t size;

	if (!ret && (!section || (uintptr_t)section % SFRAME_PACKED_ALIGN))
		ret = -EINVAL;
	if (!ret)
		ret = sfg_fill_packed(SFG_HOST_ABI, functions, nr, section,
				      length, &size, NULL);
	return ret ? ret : (long)size;
}

int sfjit_check_named(const struct sfjit_function *function)
{
	long size;
	int ret;

	if (sfg_abi_has_sframe(SFG_HOST_ABI)) {
		size = sfjit_section_size(function, 1);
		return size < 0 ? size : 0;
	}
	ret = check_functions(function, 1);
	return ret ? ret : sfg_check_function(SFG_HOST_ABI, function, NULL);
}
