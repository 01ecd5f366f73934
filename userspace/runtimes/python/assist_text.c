// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Find the code of the interpreter's loop. Compilers move the cold part of a
 * function elsewhere. It looks like a function that branches of another
 * function lead into, past its start. It has no symbol, but call frame
 * information, whose index holds the start of each function.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "assist.h"

#if __has_include(<branch.h>)
#include <branch.h>
#else
/*
 * The cold part is not known here. Stacks through it stay as the kernel made
 * them.
 */
#define BRANCH_SIZE	1
#define BRANCH_STEP	1
#define branch_target(code, target)	((void)(code), (void)(target), false)
#endif

/* Fewer of them may be parts of other instructions. */
#define FEWEST_BRANCHES	4

struct assist_range assist_loop, assist_rare;

static uintptr_t end_of_range(struct assist_range range)
{
	return range.start + range.length;
}

/* An entry of the index, of type DW_EH_PE_datarel | DW_EH_PE_sdata4. */
struct entry {
	int32_t start, fde;
};

struct index {
	const uint8_t *header;
	const struct entry *entries;
	size_t nr;
};

/* .eh_frame_hdr as all linkers write it. */
struct header {
	uint8_t version, pointer, count, table;
	int32_t eh_frame;
	uint32_t nr;
	struct entry entries[];
};

#define HEADER_PC_RELATIVE	0x1b
#define HEADER_COUNT		0x03
#define HEADER_SORTED		0x3b

static bool open_index(const struct dl_find_object *module,
		       struct index *index)
{
	const struct header *header = module->dlfo_eh_frame;

	if (!header || header->version != 1 ||
	    header->pointer != HEADER_PC_RELATIVE ||
	    header->count != HEADER_COUNT || header->table != HEADER_SORTED)
		return false;
	index->header = (const void *)header;
	index->entries = header->entries;
	index->nr = header->nr;
	return true;
}

static uintptr_t start_in_index(const struct index *index, size_t i)
{
	return (uintptr_t)index->header + index->entries[i].start;
}

/* The index of the last function that starts at or before an address, or -1. */
static long find_in_index(const struct index *index, uintptr_t address)
{
	size_t low = 0, high = index->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (start_in_index(index, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (long)low - 1;
}

/* The end of the last function is unknown, so its range is empty. */
static struct assist_range range_of(const struct index *index, long i)
{
	struct assist_range range = { start_in_index(index, i), 0 };

	if ((size_t)i + 1 < index->nr)
		range.length = start_in_index(index, i + 1) - range.start;
	return range;
}

/* Counts the loop's branches past the start of each function. */
static unsigned int *count_branches(const struct index *index,
				    const struct dl_find_object *module)
{
	unsigned int *counts = calloc(index->nr, sizeof(*counts));
	uintptr_t at, target;
	long i;

	if (!counts)
		return NULL;
	for (at = assist_loop.start;
	     at + BRANCH_SIZE <= end_of_range(assist_loop); at += BRANCH_STEP) {
		if (!branch_target((const uint8_t *)at, &target) ||
		    assist_is_in(assist_loop, target) ||
		    target < (uintptr_t)module->dlfo_map_start ||
		    target >= (uintptr_t)module->dlfo_map_end)
			continue;
		i = find_in_index(index, target);
		if (i >= 0 && target != start_in_index(index, i))
			counts[i]++;
	}
	return counts;
}

static int find_rare(void)
{
	struct dl_find_object module;
	unsigned int *counts;
	struct index index;
	size_t i, most = 0;

	if (_dl_find_object((void *)assist_loop.start, &module) ||
	    !open_index(&module, &index) || !index.nr)
		return 0;
	counts = count_branches(&index, &module);
	if (!counts)
		return -ENOMEM;
	for (i = 1; i < index.nr; i++)
		if (counts[i] > counts[most])
			most = i;
	if (counts[most] >= FEWEST_BRANCHES)
		assist_rare = range_of(&index, most);
	free(counts);
	return 0;
}

int assist_find_loop(void)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (assist_loop.length)
		return 0;
	if (!dladdr1((void *)_PyEval_EvalFrameDefault, &info, (void **)&symbol,
		     RTLD_DL_SYMENT) ||
	    !symbol || info.dli_saddr != (void *)_PyEval_EvalFrameDefault ||
	    !symbol->st_size)
		return -ENOENT;
	assist_loop.start = (uintptr_t)info.dli_saddr;
	assist_loop.length = symbol->st_size;
	return find_rare();
}

void assist_loop_range(const void **text, size_t *length)
{
	uintptr_t start = assist_loop.start, end = end_of_range(assist_loop);

	if (assist_rare.length) {
		if (assist_rare.start < start)
			start = assist_rare.start;
		if (end_of_range(assist_rare) > end)
			end = end_of_range(assist_rare);
	}
	*text = (const void *)start;
	*length = end - start;
}
