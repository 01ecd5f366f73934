// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define SFJIT_SERIES_SOURCE
#include "series.h"
#include "arch/x86/kernel/unwind_user_text.c"

int insn_get_prefixes(struct insn *insn)
{
	return insn->prefixes.got ? 0 : -EINVAL;
}
