/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Events that take one sample of this thread each: a breakpoint at
 * bench_trigger_insn, for bench_trigger(), and the tracepoint of the module
 * sframe_probe, for probe_cost().
 */
#ifndef BENCH_EVENT_H
#define BENCH_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum event_mode {
	EVENT_NO_CHAIN,		/* samples without callchain */
	EVENT_AT_ONCE,		/* perf record --call-graph=fp */
	EVENT_DEFERRED,		/* perf record --call-graph=fp,defer */
};

struct event {
	int fd;
	enum event_mode mode;
	void *ring;		/* NULL: samples are discarded */
};

void event_open(struct event *event, enum event_mode mode, int with_ring);
/* The same with a breakpoint at @insn. */
void event_open_at(struct event *event, const void *insn, enum event_mode mode,
		   int with_ring);
void event_open_probe(struct event *event, enum event_mode mode, int with_ring);
void event_close(struct event *event);

/*
 * Reads the addresses of the only callchain in the ring, starting with the
 * sample's. Returns their number, at most @max.
 */
size_t event_read_chain(struct event *event, uint64_t *chain, size_t max);

#endif /* BENCH_EVENT_H */
