// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Counts executable code without an FDE. */
#include "core.h"

/*
 * Returns the length of the padding at the start of a gap, read in blocks. A
 * nop that crosses a block's end begins the next block. Zeros after nops are
 * code.
 */
static uint64_t padding(const struct sfg_bare *b, const struct sfg_image *code,
			uint64_t from, uint64_t to)
{
	bool nops = true;
	uint64_t at = from;
	const uint8_t *p;
	size_t len, n;

	do {
		len = to - at < SFG_READ_MAX ? to - at : SFG_READ_MAX;
		p = sfg_text_at(b->in, code, at, len);
		if (!p)
			break;
		n = nops ? sfg_leading_nops(b->arch, p, len) : 0;
		nops = n || (nops && at > from);
		if (!nops)
			n = sfg_leading_zeros(p, len);
		at += n;
	} while (n && at < to);
	return at - from;
}

/*
 * Padding is recognized only at the start of a gap, where a function ends.
 * After unknown code it may be that code's data.
 */
static uint64_t without_padding(const struct sfg_bare *b,
				const struct sfg_image *code, uint64_t from,
				uint64_t to)
{
	return to - from - padding(b, code, from, to);
}

/*
 * Call in address order: 'at' never goes back, so all calls together visit each
 * range once.
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
			bytes += without_padding(b, code, lo, hi);
		if (code->addr + code->len > to)
			break;
	}
	return bytes;
}
