// SPDX-License-Identifier: GPL-2.0
/*
 * The cache of rules: what is not done for each frame.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sframe.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "sframe_cache.h"

static DEFINE_PER_CPU(struct sframe_cache *, sframe_caches);
static DEFINE_MUTEX(sframe_cache_lock);
static bool sframe_cache_ready;

static int sframe_cache_alloc(void)
{
	struct sframe_cache *cache;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (per_cpu(sframe_caches, cpu))
			continue;
		cache = vzalloc_node(sizeof(*cache), cpu_to_node(cpu));
		if (!cache)
			return -ENOMEM;
		per_cpu(sframe_caches, cpu) = cache;
	}
	return 0;
}

/**
 * sframe_cache_init - have a cache on each CPU, from the first window on
 *
 * Return: 0 or -ENOMEM.
 */
int sframe_cache_init(void)
{
	int ret;

	/* Pairs with the release below. */
	if (smp_load_acquire(&sframe_cache_ready))
		return 0;

	guard(mutex)(&sframe_cache_lock);
	ret = sframe_cache_alloc();
	if (ret)
		return ret;

	/* The tables are empty before a registry is seen. */
	smp_store_release(&sframe_cache_ready, true);
	return 0;
}

/* Let the table be that of the walk's address space as it is now. */
static void sframe_cache_renew(const struct sframe_walk *walk)
{
	struct sframe_cache *cache = walk->cache;

	cache->stamp++;
	if (cache->owner != walk->reg->id)
		cache->owned = cache->stamp;
	cache->owner = walk->reg->id;
	/* See sframe_changed(). */
	cache->changes = smp_load_acquire(&walk->reg->seq);
}

/**
 * sframe_walk_attach - let a walk use the cache of this CPU
 * @state:	position of the walk; there is a window, so there is a cache
 *
 * Context: Preemption is disabled until sframe_walk_detach().
 */
void sframe_walk_attach(struct unwind_user_state *state)
{
	struct sframe_cache *cache = this_cpu_read(sframe_caches);
	struct sframe_walk *walk = &state->sframe;

	lockdep_assert_preemption_disabled();
	walk->cache = NULL;
	/* Is this an NMI that has interrupted who uses it? */
	if (READ_ONCE(cache->busy))
		return;
	WRITE_ONCE(cache->busy, true);
	barrier();

	walk->cache = cache;
	if (cache->owner != walk->reg->id || !sframe_cache_current(walk))
		sframe_cache_renew(walk);
}

/**
 * sframe_walk_detach - leave the cache of this CPU
 * @state:	position of the walk
 */
void sframe_walk_detach(struct unwind_user_state *state)
{
	struct sframe_cache *cache = state->sframe.cache;

	if (!cache)
		return;
	state->sframe.cache = NULL;
	barrier();
	WRITE_ONCE(cache->busy, false);
}

/**
 * sframe_cache_find - find the rules of an address
 * @walk:	the walk
 * @ip:		the address
 *
 * Return: the rules, which stay until the walk is detached; or NULL.
 */
const struct unwind_user_frame *sframe_cache_find(const struct sframe_walk *walk,
						  unsigned long ip)
{
	if (!walk->cache)
		return NULL;
	if (unlikely(!sframe_cache_current(walk)))
		sframe_cache_renew(walk);
	return sframe_cache_frame(walk->cache, ip);
}

/**
 * sframe_cache_again - find the rules of an address whose window is known
 * @walk:	the walk
 * @ip:		the address
 * @id:		of the window
 *
 * Others may have come and gone: a compiler that registers all the time must
 * not empty the cache for the windows that stay.
 *
 * Return: as sframe_cache_find().
 */
const struct unwind_user_frame *sframe_cache_again(const struct sframe_walk *walk,
						   unsigned long ip, u64 id)
{
	struct sframe_cache *cache = walk->cache;
	struct sframe_cache_entry *entry;
	unsigned int i;

	if (!cache || cache->owned == cache->stamp)
		return NULL;
	entry = sframe_cache_set(cache, ip);
	for (i = 0; i < SFRAME_CACHE_WAYS; i++, entry++) {
		if (entry->ip != ip || entry->id != id ||
		    entry->stamp < cache->owned)
			continue;
		/* The window was looked up in the table's present state. */
		if (walk->seq == cache->changes)
			entry->stamp = cache->stamp;
		return &entry->frame;
	}
	return NULL;
}

/*
 * That of @ip if there is one, so that there is one only; or an empty one.
 * Interrupted addresses are many, and hardly any comes again: they are kept in
 * the last entry of a set only.
 */
static struct sframe_cache_entry *
sframe_cache_victim(struct sframe_cache *cache, unsigned long ip, bool exact)
{
	struct sframe_cache_entry *set = sframe_cache_set(cache, ip);
	unsigned int i;

	for (i = 0; i < SFRAME_CACHE_WAYS; i++)
		if (set[i].ip == ip ||
		    (!exact && set[i].stamp < cache->owned))
			return &set[i];
	if (exact)
		return &set[SFRAME_CACHE_WAYS - 1];
	return &set[cache->stores++ % SFRAME_CACHE_WAYS];
}

/**
 * sframe_cache_store - keep the rules of an address
 * @state:	position of the walk that has found them; nothing has changed
 *		since its count of changes
 * @ip:		the address
 * @id:		of the window, or 0 if there is none
 * @frame:	the rules
 */
void sframe_cache_store(const struct unwind_user_state *state, unsigned long ip,
			u64 id, const struct unwind_user_frame *frame)
{
	const struct sframe_walk *walk = &state->sframe;
	struct sframe_cache *cache = walk->cache;
	struct sframe_cache_entry *entry;

	if (!cache || walk->seq != cache->changes)
		return;
	entry = sframe_cache_victim(cache, ip, state->exact_ip);
	entry->ip = ip;
	entry->stamp = cache->stamp;
	entry->id = id;
	entry->frame = *frame;
}

