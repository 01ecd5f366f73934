// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * lazy: the stack of a function that the dynamic linker calls while a function is
 * called for the first time, through it, to the end of main(). Between the two is
 * _dl_runtime_resolve(), whose CFA is in rbx.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include "../../lib/tap.h"
#include "callchain.h"

#define NOIPA	__attribute__((noipa))

void lazy_stop(void);
uintptr_t lazy_bound_1(void);
uintptr_t lazy_bound_2(void);
uintptr_t lazy_bound_3(void);
uintptr_t lazy_bound_4(void);

/* Return addresses of the call through the dynamic linker, and of its caller. */
static uint64_t want[2];

#define CALL(n)								\
	NOIPA static void call_##n(void)				\
	{								\
		want[0] = lazy_bound_##n();				\
		want[1] = (uintptr_t)__builtin_return_address(0);	\
	}

CALL(1)
CALL(2)
CALL(3)
CALL(4)

/* One for each call, should an event be missed. */
static void (*const calls[1 + MISSES])(void) = { call_1, call_2, call_3, call_4 };

static uint64_t linker_start, linker_end;

static int find_linker(struct dl_phdr_info *info, size_t size, void *unused)
{
	int i;

	if (info->dlpi_addr != getauxval(AT_BASE))
		return 0;
	linker_start = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			linker_end = info->dlpi_addr +
				     info->dlpi_phdr[i].p_vaddr +
				     info->dlpi_phdr[i].p_memsz;
	return 1;
}

static bool is_linker(uint64_t ip)
{
	return ip - linker_start < linker_end - linker_start;
}

int main(void)
{
	struct chain chain;
	unsigned int i, n;

	MUST(dl_iterate_phdr(find_linker, NULL));
	open_event((uintptr_t)lazy_stop);
	for (i = 0; i <= MISSES && !has_fired(); i++)
		calls[i]();
	read_chain(&chain);
	close_event();

	TRUE("the event fired in the function that was called",
	     chain.nr > 2 && chain.ips[0] == (uintptr_t)lazy_stop);
	for (n = 2; n < chain.nr && is_linker(chain.ips[n]); n++)
		;
	result(n >= 4, "the dynamic linker called it", "%u of its frames",
	       n - 2);
	result(n + 1 < chain.nr && chain.ips[n] == want[0] &&
	       chain.ips[n + 1] == want[1], "and was called by the program",
	       "%u addresses, %u of them in the linker", chain.nr, n - 2);
	return finish();
}
