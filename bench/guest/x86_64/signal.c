// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define _GNU_SOURCE
#include <ucontext.h>

#include "stack.h"

#define USER_CS		0x33

void stack_add_signal(struct stack *stack, uint64_t ip)
{
	ucontext_t *context = (ucontext_t *)stack->sp;
	greg_t *regs = context->uc_mcontext.gregs;

	stack_add_address(stack, ip);
	stack->sp = (uint64_t *)(context + 1);
	stack->fp_slot = (uint64_t *)&regs[REG_RBP];
	stack->ra_slot = (uint64_t *)&regs[REG_RIP];
	regs[REG_RSP] = (uintptr_t)stack->sp;
	regs[REG_CSGSFS] = USER_CS;
}
