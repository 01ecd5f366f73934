// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The mappings of this process.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "model.h"

#define MAX_RANGES	64

static struct range {
	unsigned long	start;
	unsigned long	end;
	char		prot[5];
} ranges[MAX_RANGES];
static unsigned int nr_ranges;

void memory_read(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	struct range *range = ranges;
	char line[300];

	nr_ranges = 0;
	while (file && nr_ranges < MAX_RANGES &&
	       fgets(line, sizeof(line), file) &&
	       sscanf(line, "%lx-%lx %4s", &range->start, &range->end,
		      range->prot) == 3) {
		range++;
		nr_ranges++;
	}
	if (file)
		fclose(file);
}

/* Each byte in a mapping with this letter; maps are in order. */
static bool has(unsigned long start, unsigned long size, unsigned int letter,
		char is)
{
	const struct range *range;

	if (start + size < start)
		return false;
	for (range = ranges; size && range < ranges + nr_ranges; range++) {
		if (range->end <= start)
			continue;
		if (range->start > start || range->prot[letter] != is)
			return false;
		if (range->end - start >= size)
			return true;
		size -= range->end - start;
		start = range->end;
	}
	return !size;
}

bool memory_readable(unsigned long start, unsigned long size)
{
	return has(start, size, 0, 'r');
}

bool memory_writable(unsigned long start, unsigned long size)
{
	return has(start, size, 1, 'w');
}

/* Nothing is shared here. */
bool memory_mapped(unsigned long start, unsigned long size)
{
	return has(start, size, 3, 'p');
}

static bool map_page(unsigned long at)
{
	return mmap((void *)at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		    0) == (void *)at;
}

/*
 * The address after the highest possible page, which depends on the levels of
 * page tables. No mapping is above it on x86-64 and s390x.
 */
unsigned long memory_task_size(void)
{
	static unsigned long size;
	unsigned long last = -2 * PAGE;
	unsigned int bits;

	for (bits = 57; !size && bits >= 38; bits--) {
		if (map_page(last))
			size = last + PAGE;
		else if (map_page(last - PAGE))
			size = last;
		last = (1UL << bits) - PAGE;
	}
	return size;
}
