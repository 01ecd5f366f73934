// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Memory of sections that change while the kernel reads them.
 */
#include <errno.h>
#include <sys/mman.h>

#include <sframegen.h>

#include "live_section.h"

#define HEADER_SIZE	sizeof(struct sframe_header)
#define INDEX_SIZE	sizeof(struct sframe_fde)

int sfjit_map_live(struct sfjit_live_section *section, uint32_t entries,
		   uint64_t row_bytes, size_t behind)
{
	uint64_t rows = SFJIT_INDEX_OFFSET + (uint64_t)entries * INDEX_SIZE;
	struct sframe_header *header;
	int ret;

	if (row_bytes > SFJIT_MAX_LENGTH || rows + row_bytes > SFJIT_MAX_LENGTH)
		return -E2BIG;
	section->length = rows + row_bytes;
	section->mapped = ((section->length + 7) & ~(size_t)7) + behind;
	/* Untouched pages take no memory. */
	ret = sfjit_map(section->mapped, MAP_NORESERVE, &section->start);
	if (ret)
		return ret;
	/*
	 * Otherwise the first function would allocate a whole huge page. A
	 * kernel without huge pages returns EINVAL.
	 */
	madvise(section->start, section->mapped, MADV_NOHUGEPAGE);
	sfjit_write_header(section->start);
	header = (struct sframe_header *)section->start;
	header->fdes_off = SFJIT_INDEX_OFFSET - HEADER_SIZE;
	header->fres_off = rows - HEADER_SIZE;
	return 0;
}

int sfjit_unmap_live(const struct sfjit_live_section *section)
{
	return sfjit_unmap(section->start, section->mapped);
}

int sfjit_retire_live(const struct sfjit_live_section *section, uintptr_t key,
		      int error)
{
	int ret;

	sfjit_lock();
	/* After a failed registration the key may be another producer's. */
	if (!error)
		sfjit_unregister(key);
	ret = sfjit_unmap_live(section);
	sfjit_unlock();
	return ret;
}
