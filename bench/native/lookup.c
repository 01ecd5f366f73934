// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * lookup section|packed FILE COUNT: looks up the row of COUNT addresses of the code
 * in FILE, at random, COUNT 0: none. Prints nanoseconds for one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sframegen.h>

static struct sfg_section section;
static struct sfg_packed table;
static unsigned char data[64 << 20];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int find(int packed, uint64_t addr)
{
	struct sfjit_function fde;
	struct sfjit_row row;

	return packed ? sfg_find_packed_row(&table, addr, &fde, &row, NULL) :
			sfg_find_row(&section, addr, &fde, &row, NULL);
}

/* Both files have the same code. */
static int code_of(int packed, uint64_t *start, uint64_t *size)
{
	struct sfg_row_reader first, last;

	if (packed) {
		*start = table.header.text_start;
		*size = table.header.text_length;
		return 0;
	}
	if (sfg_read_fde(&section, 0, &first, NULL) ||
	    sfg_read_fde(&section, section.header.num_fdes - 1, &last, NULL))
		return -1;
	*start = first.fde.addr & -256;
	*size = last.fde.addr + last.fde.size - *start;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t start, size, x = 88172645463325252;
	unsigned long count, i, found = 0;
	double begin;
	size_t len;
	FILE *file;
	int packed;

	if (argc != 4)
		return 2;
	packed = !strcmp(argv[1], "packed");
	count = strtoul(argv[3], NULL, 0);
	file = fopen(argv[2], "r");
	if (!file)
		return 1;
	len = fread(data, 1, sizeof(data), file);
	if ((packed ? sfg_open_packed(&table, data, len, NULL) :
		      sfg_open_section(&section, data, len, 0, NULL)) ||
	    code_of(packed, &start, &size))
		return 1;
	begin = now();
	for (i = 0; i < count; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		found += !find(packed, start + x % size);
	}
	printf("%.1f %lu\n", count ? (now() - begin) / count : 0, found);
	return 0;
}
