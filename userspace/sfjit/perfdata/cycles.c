// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* From cycles to times of perf. */
#include "bytes.h"
#include "cycles.h"
#include "format.h"

/* Of perf since 5.10; before it ended with the third. */
struct time_conv {
	struct perf_event_header header;
	uint64_t shift, mult, zero, last, mask;
	uint8_t has_zero, is_short, reserved[6];
};

void cycles_read(struct cycles *cycles, const uint8_t *event, size_t size)
{
	struct time_conv conv = { };

	if (size < offsetof(struct time_conv, last))
		return;
	memcpy(&conv, event, size < sizeof(conv) ? size : sizeof(conv));
	if (conv.shift >= 64 || !conv.mult)
		return;
	*cycles = (struct cycles){
		.shift = conv.shift, .mult = conv.mult, .zero = conv.zero,
		.last = conv.is_short ? conv.last : 0,
		.mask = conv.is_short ? conv.mask : UINT64_MAX,
		.known = true,
	};
}

/*
 * The formula for time_zero and time_mask in <linux/perf_event.h>. Input is
 * hostile: it may wrap.
 */
uint64_t cycles_time(const struct cycles *cycles, uint64_t value)
{
	uint64_t whole, part;

	value = cycles->last + ((value - cycles->last) & cycles->mask);
	whole = value >> cycles->shift;
	part = value & ((1ULL << cycles->shift) - 1);
	return cycles->zero + whole * cycles->mult +
	       (part * cycles->mult >> cycles->shift);
}
