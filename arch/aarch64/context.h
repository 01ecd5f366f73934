/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a signal handler sees of the code that it interrupted.
 */
#ifndef SFJIT_ARCH_CONTEXT_H
#define SFJIT_ARCH_CONTEXT_H

#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

/* Bytes below the stack pointer that belong to the interrupted function. */
#define CONTEXT_RED_ZONE	0

/*
 * Of code, besides PROT_READ and PROT_EXEC: calls have to lead to a landing
 * pad, where the processor looks. Others refuse it.
 */
#define CONTEXT_PROT	(getauxval(AT_HWCAP2) & HWCAP2_BTI ? PROT_BTI : 0)

/* The stack pointer. */
#define CONTEXT_SP(context)	((context)->uc_mcontext.sp)

#endif /* SFJIT_ARCH_CONTEXT_H */
