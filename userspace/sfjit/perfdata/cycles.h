/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The clock that perf has without -k, as the kernel makes it of a counter that
 * programs can read, too: the TSC, on AArch64 CNTVCT. Conversion is exact.
 */
#ifndef SFJIT_PERFDATA_CYCLES_H
#define SFJIT_PERFDATA_CYCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of PERF_RECORD_TIME_CONV, by struct perf_event_mmap_page. */
struct cycles {
	uint64_t shift, mult, zero;
	uint64_t last, mask;	/* of a counter that is not as wide */
	bool known;
};

/* A record that has less, or nothing that can be, says nothing. */
void cycles_read(struct cycles *cycles, const uint8_t *event, size_t size);

/* The time of a counter's value. */
uint64_t cycles_time(const struct cycles *cycles, uint64_t value);

#endif /* SFJIT_PERFDATA_CYCLES_H */
