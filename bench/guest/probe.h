/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Samples in an NMI that this CPU sends itself, by the module sframe_probe:
 * nothing interrupts what is counted.
 */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include "event.h"
#include "stack.h"

void probe_open(void);

/*
 * The code that triggers a sample is copied so that the address of the sample
 * is 'ip'; it takes about 40 bytes around there, in a mapping of its own kind.
 */
void probe_place(uint64_t ip);

/* What the tracepoint took, with whatever its events did. */
uint64_t probe_cost(struct stack *stack);

/* Addresses of the callchain of such a sample, see event_read_chain(). */
size_t probe_chain(struct stack *stack, uint64_t *chain, size_t max);

#endif /* BENCH_PROBE_H */
