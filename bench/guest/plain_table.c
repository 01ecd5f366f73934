// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The module's tables as they would be without addends. */
#include <sframegen.h>

#undef SFG_INPUT_ADDENDS
#define SFG_INPUT_ADDENDS	0

#include "../../userspace/preload/make_table.c"
