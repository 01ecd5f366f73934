/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Events of which each takes one sample of this thread: a breakpoint at
 * bench_trigger_insn, for bench_trigger(), and the tracepoint of the module
 * sframe_probe, for probe_cost().
 */
#ifndef BENCH_EVENT_H
#define BENCH_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum event_mode {
	EVENT_NO_CHAIN,		/* samples without any callchain */
	EVENT_AT_ONCE,		/* perf record --call-graph=fp */
	EVENT_DEFERRED,		/* perf record --call-graph=fp,defer */
};

struct event {
	int fd;
	enum event_mode mode;
	void *ring;		/* NULL: samples are taken and thrown away */
};

void event_open(struct event *event, enum event_mode mode, int with_ring);
/* A breakpoint elsewhere. */
void event_open_at(struct event *event, const void *insn, enum event_mode mode,
		   int with_ring);
void event_open_probe(struct event *event, enum event_mode mode, int with_ring);
void event_close(struct event *event);

/*
 * Addresses of the only callchain in the ring, its first one is that of the
 * sample. Returns their number, at most 'max'.
 */
size_t event_read_chain(struct event *event, uint64_t *chain, size_t max);

#endif /* BENCH_EVENT_H */
