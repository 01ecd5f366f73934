// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Entries of .eh_frame are a chain: each has its length, a CIE then a zero, and
 * an FDE the distance back to its CIE. The chain with most FDEs is the section,
 * if its functions are all in the text of the module.
 */
#include <stdlib.h>
#include <string.h>

#include "find_cfi.h"

/* Length, zero, version, augmentation, and at least three numbers. */
#define SMALLEST_CIE	16

struct chain {
	size_t start, end, nr_fdes;
};

struct bytes {
	const uint8_t *data;
	size_t size;
};

static uint32_t word_at(const struct bytes *b, size_t at)
{
	uint32_t word;

	memcpy(&word, b->data + at, sizeof(word));
	return word;
}

/* Versions 1 and 3 are all there are in .eh_frame. */
static bool is_cie(const struct bytes *b, size_t at)
{
	uint8_t version;

	if (b->size - at < SMALLEST_CIE || word_at(b, at + 4))
		return false;
	version = b->data[at + 8];
	return (version == 1 || version == 3) &&
	       (b->data[at + 9] == 'z' || !b->data[at + 9]);
}

/* Of a CIE of the same chain. */
static bool is_fde(const struct bytes *b, size_t at, size_t start)
{
	uint32_t back = word_at(b, at + 4);

	return back && back <= at + 4 - start && is_cie(b, at + 4 - back);
}

/* Up to what is no entry; the one that marks the end belongs to it. */
static struct chain walk(const struct bytes *b, size_t start)
{
	struct chain chain = { .start = start, .end = start };
	uint32_t length;
	bool fde;

	while (b->size - chain.end >= 8) {
		length = word_at(b, chain.end);
		if (!length) {
			chain.end += sizeof(length);
			break;
		}
		/* In the segment, and aligned as assemblers do. */
		if (length < 8 || length % 4 || length > b->size - chain.end - 4)
			break;
		fde = is_fde(b, chain.end, start);
		if (!fde && !is_cie(b, chain.end))
			break;
		chain.nr_fdes += fde;
		chain.end += sizeof(length) + length;
	}
	return chain;
}

/* Each byte is in one chain, so this takes time with the size only. */
static struct chain longest(const struct bytes *b)
{
	struct chain best = { .nr_fdes = 0 }, chain;
	size_t at = 0;

	while (b->size >= SMALLEST_CIE && at <= b->size - SMALLEST_CIE) {
		if (!is_cie(b, at)) {
			at += 4;
			continue;
		}
		chain = walk(b, at);
		if (chain.nr_fdes > best.nr_fdes)
			best = chain;
		at = chain.end > at ? chain.end : at + 4;
	}
	return best;
}

static bool in_text(const struct sfg_image *text, size_t nr_text,
		    const struct sfg_image *function)
{
	const struct sfg_image *end = text + nr_text;

	for (; text < end; text++)
		if (function->addr >= text->addr &&
		    function->addr - text->addr <= text->len &&
		    function->len <= text->len - (function->addr - text->addr))
			return true;
	return false;
}

/* Programs may have call frame information of others among their data. */
static bool is_for_text(const struct sfg_image *cfi,
			const struct sfg_image *text, size_t nr_text)
{
	const struct sfg_input in = { .abi = SFG_HOST_ABI, .cfi = *cfi };
	struct sfg_image *list;
	size_t nr, i = 0;

	if (sfg_list_functions(&in, &list, &nr, NULL))
		return false;
	while (i < nr && in_text(text, nr_text, &list[i]))
		i++;
	free(list);
	return nr && i == nr;
}

bool find_cfi(const struct dl_phdr_info *info, const struct sfg_image *text,
	      size_t nr_text, struct sfg_image *cfi)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;
	size_t most = 0;

	for (; ph < info->dlpi_phdr + info->dlpi_phnum; ph++) {
		const struct bytes b = {
			(const uint8_t *)(info->dlpi_addr + ph->p_vaddr),
			ph->p_filesz,
		};
		struct chain chain;

		if (ph->p_type != PT_LOAD ||
		    (ph->p_flags & (PF_R | PF_W)) != PF_R)
			continue;
		chain = longest(&b);
		if (chain.nr_fdes <= most)
			continue;
		most = chain.nr_fdes;
		cfi->data = b.data + chain.start;
		cfi->addr = ph->p_vaddr + chain.start;
		cfi->len = chain.end - chain.start;
	}
	if (most && is_for_text(cfi, text, nr_text))
		return true;
	*cfi = (struct sfg_image) { .data = NULL };
	return false;
}
