/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a signal handler sees of the code that it interrupted.
 */
#ifndef SFJIT_ARCH_CONTEXT_H
#define SFJIT_ARCH_CONTEXT_H

#include <stdint.h>
#include <ucontext.h>

#include "slot.h"

/* Bytes below the stack pointer that belong to the interrupted function. */
#define CONTEXT_RED_ZONE	0

/* What fills memory without code: SIGILL. */
#define CONTEXT_TRAP		SLOT_TRAP

/* Besides PROT_READ and PROT_EXEC. */
static inline int context_prot(void)
{
	return 0;
}

static inline uintptr_t context_sp(const ucontext_t *context)
{
	return context->uc_mcontext.__gregs[REG_SP];
}

#endif /* SFJIT_ARCH_CONTEXT_H */
