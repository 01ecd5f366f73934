// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The address space that the threads share.
 */
#include "race.h"

struct area area;

static __u8 *section;
static unsigned long section_length;

unsigned long slot_start(unsigned int nr)
{
	return area.slots + nr * SLOT_STRIDE;
}

unsigned long any_section(unsigned long *length)
{
	*length = section_length;
	return (uintptr_t)section;
}

int window_register(const struct window *window, __u32 flags)
{
	return sft_register_text(window->key, (void *)window->section,
				 window->length, (void *)window->start,
				 window->end - window->start,
				 flags | (window->live ? live_flag : 0));
}

bool window_same(const struct window *a, const struct window *b)
{
	return a->start == b->start && a->end == b->end && a->key == b->key &&
	       a->section == b->section && a->length == b->length &&
	       a->live == b->live;
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

static int keep(struct window *window, unsigned long start, bool live)
{
	*window = (struct window){
		.start = start, .end = start + SFT_PAGE, .key = start,
		.section = any_section(&window->length),
		.length = section_length, .live = live,
	};
	return window_register(window, 0);
}

static int keep_all(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < NR_KEPT && !ret; i++)
		ret = keep(&area.kept[i], slot_start(i) + SLOT_SIZE,
			   live_flag && i % 2);
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

static int make_section(void)
{
	struct spin spin;

	section = sft_map(SFT_PAGE, SFT_RW);
	if (!section)
		return -ENOMEM;
	spin_make(&spin, 1, 1, false);
	section_length = spin_section(section, section, &spin);
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
	int ret = make_section();

	area.slots = map_low(1, NR_KEPT * SLOT_STRIDE);
	area.crowd = map_low(2, CROWD_PAGES * SFT_PAGE);
	area.ruin = map_low(3, RUIN_PAGES * SFT_PAGE);
	if (!area.slots || !area.crowd || !area.ruin)
		return -ENOMEM;
	if (!ret)
		ret = keep_all();
	return ret ? ret : leave_one();
}
