// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * For debuggers ld.so calls _dl_debug_state(), an empty function, whenever its
 * list of modules changed. This is before relocation, which runs the resolvers
 * of IFUNC symbols, and before constructors. gdb uses probes of ld.so instead,
 * or a breakpoint in the function; then this module leaves it alone.
 */
#include <errno.h>
#include <link.h>
#include <stdbool.h>

#include "divert.h"
#include "libc.h"
#include "loader.h"
#include "report.h"
#include "symbol.h"

struct search {
	uintptr_t function;
	const char *name;
};

static int find_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;

	search->function = symbol_find(info, "_dl_debug_state");
	search->name = info->dlpi_name;
	return search->function != 0;
}

static void (*on_change)(void);

static void call_on_change(uintptr_t argument)
{
	on_change();
}

void loader_follow(void (*changed)(void))
{
	const char *reason = "other threads run";
	struct search search = { 0 };
	int ret = -EBUSY;

	if (!dl_iterate_phdr(find_loader, &search))
		return;
	on_change = changed;
	if (libc_single_threaded())
		ret = divert(search.function, call_on_change, 0, &reason);
	report_followed(search.name, "_dl_debug_state", ret ? reason : NULL,
			ret);
}
