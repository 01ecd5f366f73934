/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a signal handler sees of the code that it interrupted.
 */
#ifndef SFJIT_ARCH_CONTEXT_H
#define SFJIT_ARCH_CONTEXT_H

#include <ucontext.h>

/* The psABI has 288; the kernel keeps so many for each function. */
#define CONTEXT_RED_ZONE	512

/* The stack pointer. */
#define CONTEXT_SP(context)	((context)->uc_mcontext.gp_regs[1])

#endif /* SFJIT_ARCH_CONTEXT_H */
