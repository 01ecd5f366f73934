// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <sys/mman.h>

#include "measure.h"
#include "stack.h"

#define STACK_SIZE	(24 << 20)
#define PAGE		4096

/* The second page from the top is unreadable. */
static uint64_t *map_stack(void)
{
	char *map = map_memory(STACK_SIZE + 2 * PAGE, PROT_READ | PROT_WRITE);

	if (mprotect(map + STACK_SIZE, PAGE, PROT_NONE))
		die("stack: mprotect: %m");
	return (uint64_t *)map;
}

static void leave_frame(struct stack *stack, uint64_t *cfa, int32_t ra_offset)
{
	if ((char *)cfa > (char *)stack->words + STACK_SIZE)
		die("stack: more than %d bytes", STACK_SIZE);
	stack->ra_slot = cfa + ra_offset / 8;
	cfa -= SAVE_AREA / 8;
	if (BACK_CHAIN)
		*stack->sp = (uintptr_t)cfa;
	stack->sp = cfa;
}

void stack_init(struct stack *stack)
{
	if (!stack->words)
		stack->words = map_stack();
	stack->sp = stack->words;
	stack->fp_slot = stack->words + (TRIGGER_CFA + TRIGGER_FP) / 8;
	leave_frame(stack, stack->words + TRIGGER_CFA / 8, TRIGGER_RA);
	stack->depth = 0;
}

void stack_add_address(struct stack *stack, uint64_t ip)
{
	if (stack->depth == STACK_MAX)
		die("stack: more than %d frames", STACK_MAX);
	*stack->ra_slot = ip;
	stack->chain[stack->depth++] = ip;
}

void stack_add_row(struct stack *stack, uint64_t ip, int from_fp,
		   uint32_t cfa_offset, int32_t fp_offset)
{
	stack_add_saved(stack, ip, from_fp, cfa_offset, -8, fp_offset);
}

void stack_add_saved(struct stack *stack, uint64_t ip, int from_fp,
		     uint32_t cfa_offset, int32_t ra_offset, int32_t fp_offset)
{
	uint64_t *cfa = stack->sp + cfa_offset / 8;

	stack_add_address(stack, ip);
	if (from_fp)
		*stack->fp_slot = (uintptr_t)stack->sp;
	if (fp_offset)
		stack->fp_slot = cfa + fp_offset / 8;
	leave_frame(stack, cfa, ra_offset);
}

void stack_begin_row(struct stack *stack, uint32_t cfa_offset,
		     int32_t fp_offset)
{
	uint64_t *cfa = stack->words + cfa_offset / 8;

	stack->fp_slot = cfa + fp_offset / 8;
	leave_frame(stack, cfa, -8);
}

void stack_add_fp(struct stack *stack, uint64_t ip)
{
	stack_add_saved(stack, ip, PLAIN_FROM_FP, PLAIN_CFA, PLAIN_RA,
			PLAIN_FP);
}

void stack_add_stored(struct stack *stack, uint64_t ip)
{
	*stack->sp = (uintptr_t)(stack->sp + 4);
	stack_add_row(stack, ip, 0, 32, -16);
}

void stack_end(struct stack *stack, uint64_t ip)
{
	stack_add_address(stack, ip);
	stack_end_at(stack, 0);
}

void stack_end_at(struct stack *stack, uint64_t last)
{
	*(BACK_CHAIN ? stack->sp : stack->fp_slot) = last;
}

void stack_end_unreadable(struct stack *stack, uint64_t ip)
{
	uint64_t *behind = stack->words + (STACK_SIZE + PAGE) / 8;

	*stack->sp = (uintptr_t)(behind + 1);
	stack_add_address(stack, ip);
}

uint64_t stack_trigger(struct stack *stack)
{
	return bench_trigger(stack->words, stack->words + 2);
}

size_t stack_chain(struct stack *stack, enum event_mode mode, uint64_t *chain,
		   size_t max)
{
	struct event event;
	size_t nr;

	event_open(&event, mode, 1);
	stack_trigger(stack);
	nr = event_read_chain(&event, chain, max);
	event_close(&event);
	return nr;
}
