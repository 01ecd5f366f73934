/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Samples in an NMI that this CPU sends to itself with the module sframe_probe,
 * so that no interrupt is counted.
 */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include "event.h"
#include "stack.h"

void probe_open(void);

/*
 * Copies the code that triggers a sample so that the sample's address is @ip.
 * It occupies about 40 bytes around it, in its own mapping.
 */
void probe_place(uint64_t ip);

/* The cost of the tracepoint and its events. */
uint64_t probe_cost(struct stack *stack);

/* The addresses of such a sample's callchain, see event_read_chain(). */
size_t probe_chain(struct stack *stack, uint64_t *chain, size_t max);

#endif /* BENCH_PROBE_H */
