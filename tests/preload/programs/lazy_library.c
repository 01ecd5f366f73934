// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Functions that the dynamic linker asks for: lazy.c is the program. */
#include <stdint.h>

#define NOIPA	__attribute__((noipa))

void lazy_stop(void);

NOIPA void lazy_stop(void)
{
	__asm__ volatile("" ::: "memory");
}

NOIPA static uintptr_t returns_to(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

/* Runs in the dynamic linker, when the function is called for the first time. */
#define BOUND(n)						\
	static uintptr_t (*resolve_##n(void))(void)		\
	{							\
		lazy_stop();					\
		return returns_to;				\
	}							\
	uintptr_t lazy_bound_##n(void) __attribute__((ifunc("resolve_" #n)))

BOUND(1);
BOUND(2);
BOUND(3);
BOUND(4);
