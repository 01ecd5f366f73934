// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include "series.h"
#include "sfjit.h"

#ifdef CONFIG_UNWIND_USER_SFRAME_FILES
/* The module calls the initcall itself. */
#undef subsys_initcall
#define subsys_initcall(fn)						\
	int __init sfjit_files_init(void)				\
	{								\
		return fn();						\
	}

#include "kernel/unwind/sframe_files.c"

/* No descriptor is open. */
void sfjit_files_exit(void)
{
	rhltable_destroy(&sframe_files);
}
#endif
