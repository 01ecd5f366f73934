// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Makes the section of a whole file: like encode.c, but stores equal blocks
 * once.
 */
#include <stdlib.h>

#include "core.h"

/* If an attacker makes hashes collide, blocks are stored twice. */
#define MAX_PROBES	16

struct slot {
	uint32_t off;		/* of a block, plus 1; 0: free */
	uint32_t len;
};

struct packer {
	const struct sfg_arch *arch;
	struct slot *slots;
	size_t mask;
	uint8_t *fres;
	size_t fre_len, nr_fres, nr_blocks;
};

/*
 * Compare bytes, too: with colliding hashes hostile input could give one
 * function the rows of another.
 */
static bool same_block(const struct packer *p, const struct slot *slot,
		       size_t len)
{
	return slot->len == len &&
	       !memcmp(p->fres + slot->off - 1, p->fres + p->fre_len, len);
}

/*
 * Removes the block at the end if an equal one exists. FDEs may share an offset
 * into the FRE area.
 */
static uint32_t share_block(struct packer *p, size_t len, uint32_t nr_rows)
{
	uint64_t hash = sfg_hash_bytes(p->fres + p->fre_len, len);
	uint32_t off = p->fre_len;
	struct slot *slot;
	unsigned int i;

	for (i = 0; i < MAX_PROBES; i++) {
		slot = &p->slots[(hash + i) & p->mask];
		if (!slot->off) {
			*slot = (struct slot) { off + 1, len };
			break;
		}
		if (same_block(p, slot, len))
			return slot->off - 1;
	}
	p->fre_len += len;
	p->nr_fres += nr_rows;
	p->nr_blocks++;
	return off;
}

/* At least half of the slots stay free, so one is near. */
static int alloc_slots(struct packer *p, size_t nr)
{
	size_t slots = 64;

	while (slots < nr * 2)
		slots *= 2;
	p->mask = slots - 1;
	p->slots = calloc(slots, sizeof(*p->slots));
	return p->slots ? 0 : -ENOMEM;
}

static void count_output(struct sfg_summary *sum, const struct packer *p,
			 const struct sfg_fdes *fdes)
{
	const struct sfjit_function *fde = fdes->fdes;
	size_t i, k;

	sum->fdes = fdes->nr;
	sum->rows = p->nr_fres;
	sum->blocks = p->nr_blocks;
	for (i = 0; i < fdes->nr; i++, fde++) {
		sum->mask_fdes += fde->repeat != 0;
		sum->signal_fdes += (fde->flags & SFJIT_FUNCTION_SIGNAL) != 0;
		for (k = 0; k < fde->nr_rows; k++)
			if (!sfg_row_is_default(p->arch, &fde->rows[k]))
				break;
		sum->flex_fdes += k < fde->nr_rows;
	}
}

/* num_fres counts rows in the FRE area, shared ones once. */
static void write_fdes(struct packer *p, uint8_t *buf,
		       const struct sfg_fdes *fdes, uint64_t section_addr)
{
	size_t i, len, index = sizeof(struct sframe_header);
	const struct sfjit_function *fde = fdes->fdes;
	uint32_t off;

	for (i = 0; i < fdes->nr; i++, fde++) {
		len = sfg_write_block(p->arch, fde, p->fres + p->fre_len);
		off = share_block(p, len, fde->nr_rows);
		sfg_write_index(p->arch, buf + index, section_addr + index,
				fde, off);
		index += sizeof(struct sframe_fde);
	}
	sfg_write_header(p->arch, buf, fdes->nr, p->nr_fres, p->fre_len);
}

/* Frees what sharing saved. If realloc() fails, keeps the buffer. */
static void *shrink(void *buf, size_t len)
{
	void *smaller = realloc(buf, len);

	return smaller ? smaller : buf;
}

/* An upper bound. Bytes that the result does not need are never touched. */
static size_t most_bytes(const struct sfg_fdes *fdes)
{
	size_t i, rows = 0;

	for (i = 0; i < fdes->nr; i++)
		rows += fdes->fdes[i].nr_rows;
	return SFG_SECTION_MAX(fdes->nr, rows);
}

/*
 * Refuse 4 GiB before sharing: then offsets of blocks, plus 1 in the slots, fit
 * 32 bits.
 */
int sfg_pack(const struct sfg_arch *arch, const struct sfg_fdes *fdes,
	     uint64_t section_addr, struct sfg_output *out,
	     struct sfg_summary *sum)
{
	struct packer p = { .arch = arch };
	size_t size = most_bytes(fdes), fixed;
	uint8_t *buf;
	int ret;

	if (size > UINT32_MAX)
		return -E2BIG;
	ret = alloc_slots(&p, fdes->nr);
	buf = malloc(size);
	if (ret || !buf) {
		free(p.slots);
		free(buf);
		return -ENOMEM;
	}
	fixed = sizeof(struct sframe_header) +
		fdes->nr * sizeof(struct sframe_fde);
	p.fres = buf + fixed;
	write_fdes(&p, buf, fdes, section_addr);
	count_output(sum, &p, fdes);
	free(p.slots);
	out->data = shrink(buf, fixed + p.fre_len);
	out->len = fixed + p.fre_len;
	return 0;
}
