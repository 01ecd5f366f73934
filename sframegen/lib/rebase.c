// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Moves a section in memory to other addresses. */
#include "core.h"

/*
 * Starts are relative to their fields, so nothing changes if section and code
 * move together. Entries are unaligned, hence memcpy().
 */
int sfg_rebase(void *section, size_t len, int64_t delta)
{
	struct sfg_section s;
	uint64_t start;
	uint8_t *p;
	uint32_t i;
	int ret = sfg_open_section(&s, section, len, 0, NULL);

	if (ret)
		return -EINVAL;
	p = (uint8_t *)section + s.fdes_off;
	for (i = 0; i < s.header.num_fdes; i++, p += sizeof(struct sframe_fde)) {
		memcpy(&start, p, sizeof(start));
		start = swap64(arch_swaps(s.arch), start);
		start = swap64(arch_swaps(s.arch), start + delta);
		memcpy(p, &start, sizeof(start));
	}
	return 0;
}
