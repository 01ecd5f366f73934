/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The fields of PERF_RECORD_SAMPLE.
 */
#ifndef SFJIT_PERFDATA_SAMPLE_H
#define SFJIT_PERFDATA_SAMPLE_H

#include <stdint.h>

#include "attr.h"

struct sample {
	const uint8_t *event;
	size_t size;
	/* Where its call chain is, or would be; and registers with stack. */
	size_t chain, chain_end, user, user_end;
	const uint8_t *ips;	/* @nr_ips, 8 bytes each */
	size_t nr_ips;
	const uint8_t *raw;	/* PERF_SAMPLE_RAW; NULL: none */
	size_t raw_size;
	uint64_t abi;		/* PERF_SAMPLE_REGS_ABI_*, of @registers */
	const uint8_t *registers;
	const uint8_t *stack;
	size_t stack_size;	/* that was copied */
};

/* 0, or -EBADMSG: they do not fit into the record. */
int sample_parse(const struct attr *attr, const uint8_t *event, size_t size,
		 struct sample *sample);

/*
 * Writes it to @out, of EVENT_MOST bytes, with a call chain: that of the
 * kernel, and as many of the frames of user space as there is room. Returns its
 * size, or 0 if there is none for the kernel's.
 */
size_t sample_rewrite(const struct sample *sample, const uint64_t *frames,
		      size_t nr, uint8_t *out);

/*
 * Writes it to @out, of as many bytes as it has, without the part of its stack
 * that was not copied. Returns its size.
 */
size_t sample_shrink(const struct sample *sample, uint8_t *out);

#endif /* SFJIT_PERFDATA_SAMPLE_H */
