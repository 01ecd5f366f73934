// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Sizes are powers of two; each has a list of free pieces. */
#include <string.h>

#include "store.h"
#include "sys.h"

#define SLAB		(64UL << 10)
#define SMALLEST	64
#define CLASSES		9		/* up to 16 KiB */
#define LARGEST		((size_t)SMALLEST << (CLASSES - 1))

struct piece {
	struct piece *next;
};

static struct piece *unused[CLASSES];

static unsigned int class_of(size_t size)
{
	unsigned int class = 0;

	while (((size_t)SMALLEST << class) < size)
		class++;
	return class;
}

static void grow_class(unsigned int class)
{
	size_t size = (size_t)SMALLEST << class, at;
	char *slab = sys_map(SLAB);
	struct piece *piece;

	for (at = 0; slab && at < SLAB; at += size) {
		piece = (struct piece *)(slab + at);
		piece->next = unused[class];
		unused[class] = piece;
	}
}

void *store_get(size_t size)
{
	struct piece *piece;
	unsigned int class;

	if (size > LARGEST)
		return sys_map(size);
	class = class_of(size);
	if (!unused[class])
		grow_class(class);
	piece = unused[class];
	if (!piece)
		return NULL;
	unused[class] = piece->next;
	memset(piece, 0, size);
	return piece;
}

void *store_copy(const void *from, size_t size)
{
	void *to = store_get(size);

	if (to)
		memcpy(to, from, size);
	return to;
}

void store_put(void *p, size_t size)
{
	struct piece *piece = p;
	unsigned int class;

	if (!p)
		return;
	if (size > LARGEST) {
		sys_unmap(p, size);
		return;
	}
	class = class_of(size);
	piece->next = unused[class];
	unused[class] = piece;
}
