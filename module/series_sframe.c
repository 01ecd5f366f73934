// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define SFJIT_SERIES_SOURCE
#define SFJIT_SERIES_CURRENT_MM
#include "series.h"
#include "kernel/unwind/sframe.c"
