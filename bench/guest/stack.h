/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Stacks made up for bench_trigger(): the kernel walks them as it walks those
 * of calls. Frames are added from the innermost on; the frame pointer of the
 * trigger leads to the first one.
 */
#ifndef BENCH_STACK_H
#define BENCH_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"

#define STACK_MAX	512

/* perf's default limit of a callchain, less the address of the sample. */
#define STACK_PERF	126

struct stack {
	uint64_t *words;
	uint64_t *sp;		/* of the frame that is added next */
	uint64_t *fp_slot;	/* its frame pointer goes here */
	uint64_t *ra_slot;	/* and its return address here */
	uint64_t chain[STACK_MAX];	/* what a walk has to find */
	size_t depth;
};

void stack_init(struct stack *stack);

/* The trigger's frame is one as stack_add_row() adds them. */
void stack_begin_row(struct stack *stack, uint32_t cfa_offset,
		     int32_t fp_offset);

/* A frame that keeps a frame pointer, or back chain. */
void stack_add_fp(struct stack *stack, uint64_t ip);

/*
 * A frame whose CFA is 'cfa_offset' from its stack pointer ('from_fp': from
 * its frame pointer) and which saved the caller's frame pointer at
 * CFA + fp_offset, or with 0 nowhere.
 */
void stack_add_row(struct stack *stack, uint64_t ip, int from_fp,
		   uint32_t cfa_offset, int32_t fp_offset);

/* The same with the return address at CFA + ra_offset instead of CFA - 8. */
void stack_add_saved(struct stack *stack, uint64_t ip, int from_fp,
		     uint32_t cfa_offset, int32_t ra_offset, int32_t fp_offset);

/* What all frames have, for those that are made elsewhere. */
void stack_add_address(struct stack *stack, uint64_t ip);

/*
 * A frame with its CFA stored at its stack pointer, return address and frame
 * pointer of the caller at CFA - 8 and CFA - 16.
 */
void stack_add_stored(struct stack *stack, uint64_t ip);

/*
 * The frame of the code behind a signal handler. The one that the signal
 * interrupted is added next; its address is no return address.
 */
void stack_add_signal(struct stack *stack, uint64_t ip);

/* The last frame of stack_add_stored()'s kind. Its frame pointer cannot be read. */
void stack_end_unreadable(struct stack *stack, uint64_t ip);

/*
 * The outermost frame; 'ip' is in no window. Its frame pointer, where the walk
 * ends, is 0.
 */
void stack_end(struct stack *stack, uint64_t ip);

/* The same frame with another frame pointer, or back chain. */
void stack_end_at(struct stack *stack, uint64_t last);

uint64_t stack_trigger(struct stack *stack);

/* Addresses of the callchain of a sample in it, see event_read_chain(). */
size_t stack_chain(struct stack *stack, enum event_mode mode, uint64_t *chain,
		   size_t max);

#endif /* BENCH_STACK_H */
