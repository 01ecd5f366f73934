// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define SFJIT_SERIES_SOURCE
#include "target.h"
#include "series.h"

/* Rows of a section in another process are read when a stack is walked. */
#define copy_from_user			sfjit_target_read
#define fault_in_readable(addr, size) \
	(sfjit_target() ? (size) : fault_in_readable(addr, size))
#include "kernel/unwind/sframe_section.c"
