// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * .eh_frame_hdr (LSB, Core, "Exception Frame Header"): version 1, three encodings, a
 * pointer to .eh_frame, a count, and by address a pair for each FDE: where its
 * function begins, and where it is. Linkers write each with four bytes, the pairs
 * relative to the header.
 */
#include "cfi.h"
#include "dwarf_cfi.h"

#define HEADER	12
#define ENTRY	8

static bool is_usual(const uint8_t *p)
{
	return p[0] == 1 && (p[1] & 0x0f) == DW_EH_PE_sdata4 &&
	       p[2] == DW_EH_PE_udata4 &&
	       p[3] == (DW_EH_PE_datarel | DW_EH_PE_sdata4);
}

void sfg_cfi_open_index(struct cfi_index *index, const struct sfg_input *in,
			bool big_endian)
{
	const struct sfg_image *hdr = &in->index;
	struct cursor c;

	*index = (struct cfi_index) { .nr = 0 };
	if (!hdr->data || hdr->len < HEADER || !is_usual(hdr->data) ||
	    in->flags & SFG_INPUT_DEBUG_FRAME || in->relocated)
		return;
	cursor_init(&c, hdr->data, HEADER - 4, hdr->len, big_endian);
	index->nr = cursor_u32(&c);
	if (index->nr > (hdr->len - HEADER) / ENTRY)
		index->nr = 0;
	index->entries = (const uint8_t *)hdr->data + HEADER;
	index->addr = hdr->addr;
	index->big_endian = big_endian;
}

/* Word 0: the function, 1: the FDE */
static int32_t entry(const struct cfi_index *index, size_t i, unsigned int word)
{
	struct cursor c;

	cursor_init(&c, index->entries, i * ENTRY + 4 * word,
		    index->nr * ENTRY, index->big_endian);
	return cursor_u32(&c);
}

/* Of two FDEs for one address the records tell which is used. */
bool sfg_cfi_look_up(const struct cfi_index *index, uint64_t addr,
		     uint64_t cfi_addr, uint64_t *offset)
{
	int64_t wanted = addr - index->addr;
	size_t lo = 0, hi = index->nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (entry(index, mid, 0) <= wanted)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || (lo > 1 && entry(index, lo - 2, 0) == entry(index, lo - 1, 0)))
		return false;
	*offset = index->addr + entry(index, lo - 1, 1) - cfi_addr;
	return true;
}
