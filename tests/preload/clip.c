// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: the part of a section for a part of its text: functions are cut
 * with their rows, repeating ones only between periods (built with
 * AddressSanitizer).
 */
#include <stdio.h>
#include <string.h>

#include <sframegen.h>

#include "../lib/tap.h"
#include "store.h"

#define CODE	0x7f0012340000
#define PERIOD	16

static const struct sfjit_row rows[] = {
	{ 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 4, 0, SFJIT_REG(SFJIT_X86_64_SP, 16), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 8, 0, SFJIT_REG(SFJIT_X86_64_SP, 24), SFJIT_NO_RULE, SFJIT_NO_RULE },
};

static const struct sfjit_function plain = {
	.addr = CODE, .size = 64, .nr_rows = 3, .rows = rows,
};

static const struct sfjit_function repeats = {
	.addr = CODE + 64, .size = 8 * PERIOD, .nr_rows = 3, .rows = rows,
	.repeat = PERIOD,
};

static uint8_t section[SFG_SECTION_MAX(2, 6)];
static size_t length;

static void make_section(const struct sfjit_function *functions, size_t nr)
{
	MUST(!sfg_write_section(SFG_HOST_ABI, functions, nr,
				(uintptr_t)section, section, sizeof(section),
				&length, NULL));
}

/* Its functions: start and end from CODE, period, and the start of each row. */
static const char *print(const void *clipped, size_t size)
{
	static char text[200];
	struct sfg_row_reader r;
	struct sfg_section s;
	struct sfjit_row row;
	uint32_t i;
	char *to = text;

	*to = '\0';
	MUST(!sfg_open_section(&s, clipped, size, (uintptr_t)clipped, NULL));
	for (i = 0; i < s.header.num_fdes; i++) {
		MUST(!sfg_read_fde(&s, i, &r, NULL));
		to += sprintf(to, "%s%d-%d/%d:", i ? " " : "",
			      (int)(r.fde.addr - CODE),
			      (int)(r.fde.addr + r.fde.size - CODE),
			      r.fde.repeat);
		while (!sfg_read_row(&r, &row, NULL))
			to += sprintf(to, "%d=%d,", row.start,
				      (int)row.cfa.offset);
	}
	return text;
}

static const char *clip(unsigned int start, unsigned int end)
{
	const char *text = "all of it";
	void *clipped;
	size_t size;

	MUST(!store_clip(section, length, CODE + start, CODE + end, &clipped,
			 &size));
	if (clipped)
		text = print(clipped, size);
	store_put(clipped, size);
	return text;
}

static void is_clip(const char *name, unsigned int start, unsigned int end,
		    const char *want)
{
	const char *got = clip(start, end);

	result(!strcmp(got, want), name, "'%s', expected '%s'", got, want);
}

int main(void)
{
	const struct sfjit_function both[] = { plain, repeats };

	make_section(both, 2);
	is_clip("nothing is cut", 0, 192, "all of it");
	is_clip("between two functions", 0, 64, "all of it");
	is_clip("the start of a function", 0, 6, "0-6/0:0=8,4=16,");
	is_clip("the end of a function", 6, 64, "6-64/0:0=16,2=24,");
	is_clip("at a row", 4, 64, "4-64/0:0=16,4=24,");
	is_clip("the middle of a function", 5, 7, "5-7/0:0=16,");
	is_clip("periods", 96, 128, "96-128/16:0=8,4=16,8=24,");
	is_clip("of two functions", 8, 80,
		"8-64/0:0=24, 64-80/16:0=8,4=16,8=24,");
	is_clip("a period that is cut is left out", 8, 70,
		"8-64/0:0=24, 64-70/16:0=8,4=16,8=24,");
	is_clip("what begins inside of a period is left out", 70, 128, "");
	make_section(&repeats, 1);
	is_clip("of the only function, too", 72, 192, "");
	is_clip("periods of the only function", 80, 192,
		"80-192/16:0=8,4=16,8=24,");
	return finish();
}
