/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a signal handler sees of the code that it interrupted.
 */
#ifndef SFJIT_ARCH_CONTEXT_H
#define SFJIT_ARCH_CONTEXT_H

#include <ucontext.h>

/* Bytes below the stack pointer that belong to the interrupted function. */
#define CONTEXT_RED_ZONE	0

/* The stack pointer. */
#define CONTEXT_SP(context)	((context)->uc_mcontext.gregs[15])

#endif /* SFJIT_ARCH_CONTEXT_H */
