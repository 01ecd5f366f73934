// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Executable code that no FDE is for. */
#include "core.h"

/*
 * A gap begins where a function ends, so that padding is known there. Behind
 * code that nothing is known of it may be that code's data.
 */
static uint64_t without_padding(const struct sfg_arch *arch,
				const struct sfg_image *code, uint64_t from,
				uint64_t to)
{
	const uint8_t *p = code->data;

	if (!p)
		return to - from;
	return to - from - sfg_padding(arch->abi, p + (from - code->addr),
					to - from);
}

/*
 * Calls have to come in address order: 'at' never goes back, so that all of
 * them together look at each range once.
 */
uint64_t sfg_count_bare(struct sfg_bare *b, uint64_t from, uint64_t to)
{
	const struct sfg_image *code;
	uint64_t bytes = 0, lo, hi;

	for (; b->at < b->nr_code; b->at++) {
		code = &b->code[b->at];
		lo = code->addr > from ? code->addr : from;
		hi = code->addr + code->len < to ? code->addr + code->len : to;
		if (lo < hi)
			bytes += without_padding(b->arch, code, lo, hi);
		if (code->addr + code->len > to)
			break;
	}
	return bytes;
}
