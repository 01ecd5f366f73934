// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Reads what the table of a whole file is made of. */
#include "object.h"

int object_read_sources(struct object *f, bool cfi_only)
{
	int ret = cfi_only ? 0 : object_read_go(f);

	if (!ret)
		ret = object_read_cfi(f);
	if (ret)
		return ret;
	object_read_debug_frame(f);
	return cfi_only ? 0 : object_read_entries(f);
}
