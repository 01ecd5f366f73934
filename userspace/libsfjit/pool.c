// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Pools: which slot of which window belongs to which target and name.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "window.h"

/*
 * @next links a bucket while the slot is in use, and the free queue afterwards.
 */
struct slot {
	struct slot *next;
	unsigned char *entry;
	const void *target;
	char *name;
	unsigned int hash;
	unsigned int refs;
};

/* Slots from @fresh on were never used. */
struct pool_window {
	struct pool_window *next;
	struct sfjit_window window;
	unsigned int fresh;
	struct slot slots[SFJIT_WINDOW_SLOTS];
};

struct sfjit_pool {
	unsigned int kind;
	struct sfjit_pool_info stat;
	struct pool_window *windows;	/* newest first */
	struct slot *free_head;		/* freed first */
	struct slot **free_tail;
	struct slot **buckets;
	unsigned int nr_buckets;	/* power of two */
};

#define FIRST_BUCKETS	1024

#ifdef SFJIT_TEST
#define MAX_REFS	1000
#else
#define MAX_REFS	UINT_MAX
#endif

/* ---- Identity of a slot ---------------------------------------------- */

/* FNV-1a. */
static unsigned int hash_bytes(unsigned int hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	while (n--)
		hash = (hash ^ *p++) * 16777619;
	return hash;
}

static unsigned int hash_of(const void *target, const char *name)
{
	unsigned int hash = hash_bytes(2166136261u, &target, sizeof(target));

	return name ? hash_bytes(hash, name, strlen(name)) : hash;
}

static bool same_name(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return !strcmp(a, b);
}

static struct slot **bucket_of(struct sfjit_pool *pool, unsigned int hash)
{
	return &pool->buckets[hash & (pool->nr_buckets - 1)];
}

static struct slot *find_slot(struct sfjit_pool *pool, unsigned int hash,
			      const void *target, const char *name)
{
	struct slot *slot;

	for (slot = *bucket_of(pool, hash); slot; slot = slot->next)
		if (slot->hash == hash && slot->target == target &&
		    same_name(slot->name, name))
			return slot;
	return NULL;
}

static void insert_slot(struct sfjit_pool *pool, struct slot *slot)
{
	struct slot **bucket = bucket_of(pool, slot->hash);

	slot->next = *bucket;
	*bucket = slot;
}

static void remove_slot(struct sfjit_pool *pool, struct slot *slot)
{
	struct slot **link = bucket_of(pool, slot->hash);

	while (*link != slot)
		link = &(*link)->next;
	*link = slot->next;
}

static void rehash_bucket(struct sfjit_pool *pool, struct slot *slot)
{
	struct slot *next;

	for (; slot; slot = next) {
		next = slot->next;
		insert_slot(pool, slot);
	}
}

/* Without memory the buckets stay and get longer. */
static void grow_buckets(struct sfjit_pool *pool)
{
	struct slot **old = pool->buckets;
	unsigned int i, nr = pool->nr_buckets;
	struct slot **buckets = calloc(2 * (size_t)nr, sizeof(*buckets));

	if (!buckets)
		return;
	pool->buckets = buckets;
	pool->nr_buckets = 2 * nr;
	for (i = 0; i < nr; i++)
		rehash_bucket(pool, old[i]);
	free(old);
}

/* ---- Windows of a pool ----------------------------------------------- */

static void count_window(struct sfjit_pool *pool, int error)
{
	pool->stat.windows++;
	if (error)
		pool->stat.error = error;
	else
		pool->stat.registered++;
}

static int add_window(struct sfjit_pool *pool)
{
	struct pool_window *window = calloc(1, sizeof(*window));
	int ret;

	if (!window)
		return -ENOMEM;
	ret = sfjit_window_create(&window->window, pool->kind);
	if (ret) {
		free(window);
		return ret;
	}
	count_window(pool, window->window.error);
	window->next = pool->windows;
	pool->windows = window;
	return 0;
}

static struct pool_window *window_of(struct sfjit_pool *pool, const void *entry)
{
	struct pool_window *window;

	for (window = pool->windows; window; window = window->next)
		if ((uintptr_t)entry - (uintptr_t)window->window.code <
		    SFJIT_WINDOW_SIZE)
			return window;
	return NULL;
}

static void set_target(struct sfjit_pool *pool, struct slot *slot,
		       const void *target)
{
	struct pool_window *window;

	slot->target = target;
	if (!sfjit_kind_has_data(pool->kind))
		return;
	window = window_of(pool, slot->entry);
	sfjit_window_set_target(&window->window, slot - window->slots, target);
}

/* ---- Free slots ------------------------------------------------------ */

static void queue_slot(struct sfjit_pool *pool, struct slot *slot)
{
	slot->next = NULL;
	*pool->free_tail = slot;
	pool->free_tail = &slot->next;
}

static struct slot *dequeue_slot(struct sfjit_pool *pool)
{
	struct slot *slot = pool->free_head;

	pool->free_head = slot->next;
	if (!pool->free_head)
		pool->free_tail = &pool->free_head;
	return slot;
}

static struct slot *fresh_slot(struct pool_window *window)
{
	unsigned int index = window->fresh++;
	struct slot *slot = &window->slots[index];

	slot->entry = window->window.code + index * SFJIT_SLOT_SIZE;
	return slot;
}

/*
 * Prefer unused slots: lines of the perf map stay, so a reused slot may show
 * its old name. Only the newest window has unused slots.
 */
static int take_slot(struct sfjit_pool *pool, struct slot **slot)
{
	int ret;

	if (pool->windows->fresh == SFJIT_WINDOW_SLOTS && pool->free_head) {
		*slot = dequeue_slot(pool);
		return 0;
	}
	if (pool->windows->fresh == SFJIT_WINDOW_SLOTS) {
		ret = add_window(pool);
		if (ret)
			return ret;
	}
	*slot = fresh_slot(pool->windows);
	return 0;
}

/* ---- get and put ----------------------------------------------------- */

static int copy_name(const char *name, char **copy)
{
	*copy = name ? strdup(name) : NULL;
	return name && !*copy ? -ENOMEM : 0;
}

static int new_slot(struct sfjit_pool *pool, unsigned int hash,
		    const void *target, const char *name, struct slot **slot)
{
	struct sfjit_function function;
	char *copy;
	int ret = copy_name(name, &copy);

	if (ret)
		return ret;
	ret = take_slot(pool, slot);
	if (ret) {
		free(copy);
		return ret;
	}
	(*slot)->hash = hash;
	(*slot)->name = copy;
	set_target(pool, *slot, target);
	if (pool->stat.used++ == pool->nr_buckets)
		grow_buckets(pool);
	insert_slot(pool, *slot);
	if (name) {
		sfjit_kind_function(pool->kind, (*slot)->entry, &function);
		sfjit_name_trampoline(&function, name);
	}
	return 0;
}

static int get_slot(struct sfjit_pool *pool, const void *target,
		    const char *name, void **entry)
{
	unsigned int hash = hash_of(target, name);
	struct slot *slot = find_slot(pool, hash, target, name);
	int ret;

	if (!slot) {
		ret = new_slot(pool, hash, target, name, &slot);
		if (ret)
			return ret;
	}
	if (slot->refs == MAX_REFS)
		return -EOVERFLOW;
	slot->refs++;
	*entry = slot->entry;
	return 0;
}

int sfjit_tramp_get(struct sfjit_pool *pool, const void *target,
		    const char *name, void **entry)
{
	int ret;

	if (!pool || !entry)
		return -EINVAL;
	if (!target && sfjit_kind_has_data(pool->kind))
		return -EINVAL;
	if (name && !*name)
		name = NULL;
	sfjit_lock();
	ret = get_slot(pool, target, name, entry);
	sfjit_unlock();
	return ret;
}

static void free_slot(struct sfjit_pool *pool, struct slot *slot)
{
	remove_slot(pool, slot);
	set_target(pool, slot, NULL);
	free(slot->name);
	slot->name = NULL;
	pool->stat.used--;
	queue_slot(pool, slot);
}

static int put_slot(struct sfjit_pool *pool, void *entry)
{
	struct pool_window *window = window_of(pool, entry);
	struct slot *slot;
	size_t offset;

	if (!window)
		return -EINVAL;
	offset = (unsigned char *)entry - window->window.code;
	/* Only the first byte of a slot is an entry point. */
	if (offset % SFJIT_SLOT_SIZE)
		return -EINVAL;
	slot = &window->slots[offset / SFJIT_SLOT_SIZE];
	if (!slot->refs)
		return -ENOENT;
	if (!--slot->refs)
		free_slot(pool, slot);
	return 0;
}

int sfjit_tramp_put(struct sfjit_pool *pool, void *entry)
{
	int ret;

	if (!pool)
		return -EINVAL;
	sfjit_lock();
	ret = put_slot(pool, entry);
	sfjit_unlock();
	return ret;
}

/* ---- Life of a pool -------------------------------------------------- */

static int init_pool(void *object, const void *how)
{
	struct sfjit_pool *pool = object;
	int ret;

	pool->kind = *(const unsigned int *)how;
	pool->free_tail = &pool->free_head;
	pool->nr_buckets = FIRST_BUCKETS;
	pool->buckets = calloc(pool->nr_buckets, sizeof(*pool->buckets));
	if (!pool->buckets)
		return -ENOMEM;
	ret = add_window(pool);
	if (ret)
		free(pool->buckets);
	return ret;
}

int sfjit_pool_create(unsigned int kind, struct sfjit_pool **result)
{
	int ret = result ? sfjit_kind_check(kind) : -EINVAL;

	if (ret)
		return ret;
	return sfjit_create(sizeof(**result), init_pool, &kind, result);
}

static int retire_window(struct pool_window *window)
{
	unsigned int i;
	int ret;

	sfjit_drop_names(window->window.code, SFJIT_WINDOW_SIZE);
	ret = sfjit_window_retire(&window->window);

	for (i = 0; i < window->fresh; i++)
		free(window->slots[i].name);
	free(window);
	return ret;
}

static int retire_windows(struct sfjit_pool *pool)
{
	struct pool_window *window = pool->windows;
	struct pool_window *next;
	int ret = 0, error;

	for (; window; window = next) {
		next = window->next;
		error = retire_window(window);
		if (error)
			ret = error;
	}
	return ret;
}

/* Under the lock, so that fork() sees a window whole or not at all. */
int sfjit_pool_retire(struct sfjit_pool *pool)
{
	int ret;

	if (!pool)
		return 0;
	sfjit_lock();
	ret = retire_windows(pool);
	sfjit_unlock();
	free(pool->buckets);
	free(pool);
	return ret;
}

int sfjit_pool_stat(const struct sfjit_pool *pool,
		    struct sfjit_pool_info *stat)
{
	if (!pool || !stat)
		return -EINVAL;
	sfjit_lock();
	*stat = pool->stat;
	sfjit_unlock();
	return 0;
}
