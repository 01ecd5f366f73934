// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdio.h>
#include <stdlib.h>

#include "check_alloc.h"

void *check_alloc(void *allocated)
{
	if (allocated)
		return allocated;
	fputs("sfjit: out of memory\n", stderr);
	exit(1);
}
