// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The address space that the threads share.
 */
#include "race.h"

struct area area;

/* Of each format. */
static __u8 *tables[2];
static unsigned long lengths[2];

unsigned long slot_start(unsigned int nr)
{
	return area.slots + nr * SLOT_STRIDE;
}

void any_table(struct window *window)
{
	window->section = (uintptr_t)tables[window->packed];
	window->length = lengths[window->packed];
}

int window_register(const struct window *window, __u32 flags)
{
	const struct sframe_window_opts opts = {
		.size = sizeof(opts), .flags = flags,
		.text_start = window->start,
		.text_length = window->end - window->start,
		.format = window->packed ? SFRAME_FORMAT_PACKED :
					   SFRAME_FORMAT_V3,
	};

	return sft_register(window->key, (void *)window->section,
			    window->length, &opts);
}

bool window_same(const struct window *a, const struct window *b)
{
	return a->start == b->start && a->end == b->end && a->key == b->key &&
	       a->section == b->section && a->length == b->length &&
	       a->packed == b->packed;
}

/* The first and the last one of all keys are as good as others. */
unsigned long crowd_key(unsigned int nr)
{
	return nr == CROWD_KEYS - 1 ? -1UL : nr;
}

unsigned long ruin_key(unsigned int nr)
{
	return 1000 + nr;
}

static int keep(struct window *window, unsigned long start, bool packed)
{
	*window = (struct window){
		.start = start, .end = start + SFT_PAGE, .key = start,
		.packed = packed,
	};
	any_table(window);
	return window_register(window, 0);
}

static int keep_all(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < NR_KEPT && !ret; i++)
		ret = keep(&area.kept[i], slot_start(i) + SLOT_SIZE, i % 2);
	return ret;
}

/* Text that children of fork() do not have. */
static int leave_one(void)
{
	void *text = sft_map(SFT_PAGE, SFT_RX);

	if (!text || madvise(text, SFT_PAGE, MADV_DONTFORK))
		return -errno;
	return keep(&area.left, (uintptr_t)text, false);
}

static int make_tables(void)
{
	struct spin spin;

	tables[false] = sft_map(SFT_PAGE, SFT_RW);
	if (!tables[false])
		return -ENOMEM;
	tables[true] = tables[false] + SPIN_TABLE;
	spin_make(&spin, 1, 1, false);
	lengths[false] = spin_section(tables[false], tables[false], &spin);
	lengths[true] = spin_table(tables[true], tables[true], &spin);
	return 0;
}

/*
 * Far below where the kernel puts mappings without address: what is unmapped
 * here stays a hole.
 */
static unsigned long map_low(unsigned long nr, size_t size)
{
	void *at = (void *)(nr << 33);
	void *text = mmap(at, size, SFT_RX, MAP_PRIVATE | MAP_ANONYMOUS |
			  MAP_FIXED_NOREPLACE, -1, 0);

	return text == at ? (uintptr_t)text : 0;
}

int area_init(void)
{
	int ret = make_tables();

	area.slots = map_low(1, NR_KEPT * SLOT_STRIDE);
	area.crowd = map_low(2, CROWD_PAGES * SFT_PAGE);
	area.ruin = map_low(3, RUIN_PAGES * SFT_PAGE);
	if (!area.slots || !area.crowd || !area.ruin)
		return -ENOMEM;
	if (!ret)
		ret = keep_all();
	return ret ? ret : leave_one();
}
