/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef JITS_CODE_H
#define JITS_CODE_H

#include "oracle.h"

/*
 * Whether a call, or the kernel's call of a signal handler, can return to @addr;
 * also if that is in code that is not known.
 */
bool is_return_address(const struct process *process, uint64_t addr);
/* Whether the call that returns to @addr names the function that has @callee. */
bool is_direct_call(struct process *process, uint64_t addr, uint64_t callee);

#endif
