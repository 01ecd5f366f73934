// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <sfjit.h>
#include <sfjit/sframe.h>
#include <stddef.h>

#include "kernel.h"

const char *kernel_lacks_windows(void)
{
	if (sfjit_available(SFJIT_QUERY_FORMATS) >> SFRAME_FORMAT_PACKED & 1)
		return NULL;
	return sfjit_available(SFJIT_QUERY_KERNEL) > 0 ?
	       "this kernel is older than sfjit (see sfjit doctor)" :
	       "this kernel knows no SFrame windows";
}
