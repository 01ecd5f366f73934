// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * __jit_debug_register_code() says that __jit_debug_descriptor changed ("JIT
 * Compilation Interface" in gdb's manual). Each module that makes code may have
 * its own two, and calls its own.
 */
#include <errno.h>
#include <stddef.h>

#include "divert.h"
#include "gdbjit.h"
#include "jit.h"
#include "report.h"
#include "symbol.h"

void gdbjit_follow(const struct dl_phdr_info *info, const char *name,
		   bool fresh)
{
	uintptr_t function = symbol_find(info, "__jit_debug_register_code");
	uintptr_t descriptor = symbol_find(info, "__jit_debug_descriptor");
	const char *reason = "its code may run already";
	int ret = -EBUSY;

	if (!function || !descriptor)
		return;
	if (fresh)
		ret = divert(function, jit_gdb_event, descriptor, &reason);
	report_followed(name, "__jit_debug_register_code",
			ret ? reason : NULL, ret);
	/* Take the entries in the list of a library we noticed late. */
	jit_gdb_list(descriptor);
}
