// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Memory of a conversion: a bump allocator over private mappings. Each thread
 * allocates from the arena that it has chosen; who owns a lock owns its arena.
 */
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "sys.h"

#define ALIGN		16
#define CHUNK		(1UL << 20)
#define HIDDEN		__attribute__((visibility("hidden")))

struct chunk {
	struct chunk *next;
	size_t length;
	size_t used;
	size_t pad;
};

/* In front of every allocation. */
struct block {
	size_t size;
	size_t pad;
};

/*
 * Space that ld.so has for each thread. Of a module that is loaded later, by
 * sfjit_cover_modules(), it takes a part of what is kept for such: a pointer.
 */
static __thread struct arena *current
	__attribute__((tls_model("initial-exec")));

struct arena *arena_enter(struct arena *arena)
{
	struct arena *before = current;

	current = arena;
	return before;
}

static struct chunk *chunk_add(size_t need)
{
	size_t length = need + sizeof(struct chunk) > CHUNK ?
			need + sizeof(struct chunk) : CHUNK;
	struct chunk *c = sys_map(length);

	if (!c)
		return NULL;
	c->length = length;
	c->used = sizeof(*c);
	/* Smaller allocations go on in the first chunk. */
	if (length > CHUNK && current->chunks) {
		c->next = current->chunks->next;
		current->chunks->next = c;
	} else {
		c->next = current->chunks;
		current->chunks = c;
	}
	return c;
}

/* One chunk of the usual size, empty. */
static void keep_chunk(struct chunk *c)
{
	memset(c + 1, 0, c->used - sizeof(*c));
	c->used = sizeof(*c);
	c->next = NULL;
	current->chunks = c;
}

void arena_release(void)
{
	struct chunk *c, *kept = NULL;

	while ((c = current->chunks)) {
		current->chunks = c->next;
		if (current->keeps && !kept && c->length == CHUNK)
			kept = c;
		else
			sys_unmap(c, c->length);
	}
	if (kept)
		keep_chunk(kept);
}

/* The linker binds libsframegen's calls to these; the module exports none. */
HIDDEN void *malloc(size_t size)
{
	struct chunk *c = current->chunks;
	struct block *b;
	size_t need;

	if (size > PTRDIFF_MAX - CHUNK)
		return NULL;
	need = sizeof(*b) + ((size + ALIGN - 1) & ~(size_t)(ALIGN - 1));
	if (!c || c->length - c->used < need)
		c = chunk_add(need);
	if (!c)
		return NULL;
	b = (void *)((char *)c + c->used);
	c->used += need;
	b->size = size;
	return b + 1;
}

/* One that fills a chunk: libraries have large tables, and grow them. */
HIDDEN void free(void *p)
{
	struct chunk **link = &current->chunks, *c;

	for (; p && (c = *link); link = &c->next) {
		if (c->length <= CHUNK || (struct block *)(c + 1) + 1 != p)
			continue;
		*link = c->next;
		sys_unmap(c, c->length);
		return;
	}
}

HIDDEN void *calloc(size_t nr, size_t size)
{
	size_t total;

	/* Fresh from the kernel, or cleared by keep_chunk(): zero already. */
	if (__builtin_mul_overflow(nr, size, &total))
		return NULL;
	return malloc(total);
}

HIDDEN void *realloc(void *p, size_t size)
{
	size_t old = p ? ((struct block *)p)[-1].size : 0;
	void *bigger;

	if (old >= size && p)
		return p;
	bigger = malloc(size);
	if (bigger && p) {
		memcpy(bigger, p, old);
		free(p);
	}
	return bigger;
}

static void swap_items(char *a, char *b, size_t size)
{
	uint64_t word, other;

	for (; size >= sizeof(word); size -= sizeof(word)) {
		memcpy(&word, a, sizeof(word));
		memcpy(&other, b, sizeof(word));
		memcpy(a, &other, sizeof(word));
		memcpy(b, &word, sizeof(word));
		a += sizeof(word);
		b += sizeof(word);
	}
	for (; size; size--, a++, b++) {
		char c = *a;

		*a = *b;
		*b = c;
	}
}

/*
 * libc's allocates; a shell sort needs nothing, and has little to do where
 * almost all is sorted: linkers keep the order of functions.
 */
HIDDEN void qsort(void *base, size_t nr, size_t size,
		  int (*compare)(const void *, const void *))
{
	size_t gap = 1, i;
	char *at;

	while (gap < nr / 3)
		gap = 3 * gap + 1;
	for (; gap; gap /= 3)
		for (i = gap; i < nr; i++)
			for (at = (char *)base + i * size;
			     at - (char *)base >= (ptrdiff_t)(gap * size) &&
			     compare(at - gap * size, at) > 0;
			     at -= gap * size)
				swap_items(at, at - gap * size, size);
}
