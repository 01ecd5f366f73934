// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A JIT that appends functions to an area. Each can be profiled as soon as it
 * can run: emit, publish, call. The memory is mapped twice, to write and to
 * execute. It is anonymous, as perf ignores the perf map for a memfd.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <sfjit.h>
#include <sfjit/area.h>

#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)

#define AREA		0x10000
#define FUNCTIONS	1000
#define SPACING		16

/* int f(int n) { return previous(n) + 1; } without frame pointer */
static const unsigned char code[] = {
	0x53,				/* push %rbx */
	0xe8, 0x00, 0x00, 0x00, 0x00,	/* call previous */
	0xff, 0xc0,			/* inc %eax */
	0x5b,				/* pop %rbx */
	0xc3,				/* ret */
};

static const struct sfjit_row rows[] = {
	{ 0, 0, SP(8), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 1, 0, SP(16), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 9, 0, SP(8), SFJIT_NO_RULE, SFJIT_NO_RULE },
};

/* int f(int n) { return n + n; } needs only the first of these rows */
static const unsigned char leaf[] = { 0x8d, 0x04, 0x3f, 0xc3 };

static unsigned char *writable, *executable;

/* mremap() with size 0 maps shared memory again. */
static int map_area(void)
{
	writable = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (writable == MAP_FAILED)
		return -1;
	executable = mremap(writable, 0, AREA, MREMAP_MAYMOVE);
	if (executable == MAP_FAILED)
		return -1;
	return mprotect(executable, AREA, PROT_READ | PROT_EXEC);
}

static size_t emit(size_t offset)
{
	int distance = -SPACING - 6;	/* from the end of the call */

	if (!offset) {
		memcpy(writable, leaf, sizeof(leaf));
		return sizeof(leaf);
	}
	memcpy(writable + offset, code, sizeof(code));
	memcpy(writable + offset + 2, &distance, sizeof(distance));
	return sizeof(code);
}

/* Emits a function and makes it walkable without a system call. */
static int compile(struct sfjit_area *area, size_t offset)
{
	struct sfjit_function f = {
		.addr = (uintptr_t)executable + offset,
		.size = emit(offset),
		.nr_rows = offset ? 3 : 1,
		.rows = rows,
	};
	int ret = sfjit_area_publish(area, &f);

	if (ret != -ENOSPC)
		return ret;
	/* The table is full; this is rare. */
	ret = sfjit_area_grow(area, NULL, 0, 0, 0);
	return ret ? ret : sfjit_area_publish(area, &f);
}

int main(void)
{
	struct sfjit_area_info stat;
	struct sfjit_area *area;
	size_t i, last = (FUNCTIONS - 1) * SPACING;
	int ret;

	/* Small, to show growth; pass 0, 0 in most programs. */
	if (map_area() || sfjit_area_create(executable, AREA, 8, 4096, &area))
		return 1;
	for (i = 0; i < FUNCTIONS; i++) {
		ret = compile(area, i * SPACING);
		if (ret)	/* run anyway */
			fprintf(stderr, "cannot publish: %s\n", strerror(-ret));
	}
	sfjit_perf_map_name(executable + last, sizeof(code), "area::last");

	printf("%d\n", ((int (*)(int))(executable + last))(20));
	sfjit_area_stat(area, &stat);
	printf("%zu functions, %u rules\n", stat.functions, stat.rules);

	sfjit_area_retire(area);
	return munmap(executable, AREA) || munmap(writable, AREA) ? 1 : 0;
}
