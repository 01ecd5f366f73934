// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Executable code that no FDE is for. */
#include "core.h"

/*
 * Padding that the gap begins with, a block at a time: a nop that the block's
 * end cuts in two begins the next one. Zeros behind nops are code.
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
 * A gap begins where a function ends, so that padding is known there. Behind
 * code that nothing is known of it may be that code's data.
 */
static uint64_t without_padding(const struct sfg_bare *b,
				const struct sfg_image *code, uint64_t from,
				uint64_t to)
{
	return to - from - padding(b, code, from, to);
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
			bytes += without_padding(b, code, lo, hi);
		if (code->addr + code->len > to)
			break;
	}
	return bytes;
}
