/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Artificial stacks for bench_trigger(): the kernel walks them like real ones.
 * Frames are added from the innermost outwards; the trigger's frame pointer
 * leads to the first one.
 */
#ifndef BENCH_STACK_H
#define BENCH_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"

#define STACK_MAX	512

/* perf's default limit of a callchain, without the sample's address. */
#define STACK_PERF	126

struct stack {
	uint64_t *words;
	uint64_t *sp;		/* of the next frame */
	uint64_t *fp_slot;	/* for its frame pointer */
	uint64_t *ra_slot;	/* for its return address */
	uint64_t chain[STACK_MAX];	/* what a walk must find */
	size_t depth;
};

void stack_init(struct stack *stack);

/* The trigger's frame is of stack_add_row()'s kind. */
void stack_begin_row(struct stack *stack, uint32_t cfa_offset,
		     int32_t fp_offset);

/* A frame with a frame pointer or back chain. */
void stack_add_fp(struct stack *stack, uint64_t ip);

/*
 * A frame whose CFA is at @cfa_offset from its stack pointer (@from_fp: from
 * its frame pointer), with the caller's frame pointer saved at CFA +
 * @fp_offset, or nowhere if that is 0.
 */
void stack_add_row(struct stack *stack, uint64_t ip, int from_fp,
		   uint32_t cfa_offset, int32_t fp_offset);

/* The same with the return address at CFA + @ra_offset instead of CFA - 8. */
void stack_add_saved(struct stack *stack, uint64_t ip, int from_fp,
		     uint32_t cfa_offset, int32_t ra_offset, int32_t fp_offset);

/* The common part of all frames, for those built elsewhere. */
void stack_add_address(struct stack *stack, uint64_t ip);

/*
 * A frame with its CFA stored at its stack pointer; return address and caller's
 * frame pointer at CFA - 8 and CFA - 16.
 */
void stack_add_stored(struct stack *stack, uint64_t ip);

/*
 * The frame of the signal return trampoline. The interrupted frame is added
 * next; its address is not a return address.
 */
void stack_add_signal(struct stack *stack, uint64_t ip);

/*
 * The last frame, of stack_add_stored()'s kind, with an unreadable frame
 * pointer.
 */
void stack_end_unreadable(struct stack *stack, uint64_t ip);

/*
 * The outermost frame; @ip is in no window. Its frame pointer is 0, which ends
 * the walk.
 */
void stack_end(struct stack *stack, uint64_t ip);

/* The same with another frame pointer or back chain. */
void stack_end_at(struct stack *stack, uint64_t last);

uint64_t stack_trigger(struct stack *stack);

/* The addresses of a sample's callchain, see event_read_chain(). */
size_t stack_chain(struct stack *stack, enum event_mode mode, uint64_t *chain,
		   size_t max);

#endif /* BENCH_STACK_H */
