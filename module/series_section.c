// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define SFJIT_SERIES_SOURCE
#include "target.h"
#include "series.h"

#define copy_from_user			sfjit_target_read
#include "kernel/unwind/sframe_section.c"
