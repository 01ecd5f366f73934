// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: the memory of a conversion: tables that grow, and those that are
 * freed, go back to the kernel at once, and all others with the arena.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/tap.h"
#include "arena.h"

#define MIB		(1UL << 20)

/* Of this process, in MiB. Under qemu-user statm has the emulator's own, too. */
static unsigned long mapped(void)
{
	unsigned long start, end, bytes = 0;
	FILE *file = fopen("/proc/self/maps", "r");

	if (!file)
		give_up();
	while (fscanf(file, "%lx-%lx%*[^\n]", &start, &end) == 2)
		bytes += end - start;
	fclose(file);
	return bytes / MIB;
}

/* As the converter's lists do. */
static char *grow(size_t to)
{
	char *list = NULL;
	size_t size;

	for (size = 1024; size <= to; size *= 2) {
		list = realloc(list, size);
		MUST(list);
		memset(list + size / 2, size / 1024 % 251, size / 2);
	}
	return list;
}

static bool is_kept(const char *list, size_t to)
{
	size_t size;

	for (size = 1024; size <= to; size *= 2)
		if (list[size / 2] != (char)(size / 1024 % 251) ||
		    list[size - 1] != (char)(size / 1024 % 251))
			return false;
	return true;
}

static bool is_zero(const char *p, size_t size)
{
	while (size && !p[size - 1])
		size--;
	return !size;
}

int main(void)
{
	struct arena arena = { .keeps = false };
	unsigned long before = mapped(), now;
	char *small, *list, *other;
	int i;

	arena_enter(&arena);
	small = calloc(1, 64);
	strcpy(small, "small");
	list = grow(32 * MIB);
	now = mapped();
	result(now - before <= 36, "a list that grows to 32 MiB",
	       "%lu MiB are mapped", now - before);
	result(is_kept(list, 32 * MIB), "its content", "it differs");
	for (i = 0; i < 100; i++) {
		other = calloc(2, MIB);
		MUST(is_zero(other, 2 * MIB));
		memset(other, 1, 2 * MIB);
		free(other);
	}
	IS("100 times 2 MiB are freed", mapped(), now);
	free(NULL);
	free(small);
	result(!strcmp(small, "small") && is_kept(list, 32 * MIB),
	       "the others stay", "they differ");
	free(list);
	small = malloc(64);
	result(small && is_zero(small, 64), "small ones after it",
	       "%s", small ? "not zero" : "none");
	arena_release();
	IS("released", mapped(), before);
	arena_enter(NULL);
	return finish();
}
