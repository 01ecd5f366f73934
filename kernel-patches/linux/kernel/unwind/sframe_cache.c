// SPDX-License-Identifier: GPL-2.0
/*
 * The cache of rules: what is not done for each frame.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
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
		/* The table is empty before it is seen. */
		smp_store_release(per_cpu_ptr(&sframe_caches, cpu), cache);
	}
	return 0;
}

/**
 * sframe_cache_init - have a cache on each CPU, for those who take callchains
 *
 * Return: 0, or -ENOMEM: some CPUs look up each address.
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

	/* The caches are there before this says so. */
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
 * @state:	position of the walk
 *
 * Context: Preemption is disabled until sframe_walk_detach().
 */
void sframe_walk_attach(struct unwind_user_state *state)
{
	struct sframe_cache *cache = this_cpu_read(sframe_caches);
	struct sframe_walk *walk = &state->sframe;

	lockdep_assert_preemption_disabled();
	walk->cache = NULL;
	walk->missed = false;
	/* There is none yet, or this NMI has interrupted the walk that uses it. */
	if (!cache || READ_ONCE(cache->busy))
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

static bool sframe_cache_is(const struct sframe_cache_entry *entry,
			    unsigned long ip, bool exact)
{
	return exact ? ip + entry->ip < entry->length : entry->ip == ip;
}

/* Where the rules of an interrupted address are. */
static struct sframe_cache_entry *
sframe_cache_row(struct sframe_cache *cache, unsigned long ip)
{
	return sframe_cache_set(cache, ip / SFRAME_CACHE_BLOCK) +
	       SFRAME_CACHE_WAYS - 1;
}

/**
 * sframe_cache_find - find the rules of a position
 * @state:	the position
 * @ip:		its address, see sframe_lookup_ip()
 *
 * Return: the rules, which stay until the walk is detached; or NULL.
 */
const struct unwind_user_frame *
sframe_cache_find(const struct unwind_user_state *state, unsigned long ip)
{
	const struct sframe_walk *walk = &state->sframe;
	struct sframe_cache_entry *entry;

	if (!walk->cache)
		return NULL;
	if (unlikely(!sframe_cache_current(walk)))
		sframe_cache_renew(walk);
	if (!state->exact_ip)
		return sframe_cache_frame(walk->cache, ip);

	entry = sframe_cache_row(walk->cache, ip);
	if (sframe_cache_is(entry, ip, true) &&
	    entry->stamp == walk->cache->stamp)
		return &entry->frame;
	return NULL;
}

/**
 * sframe_cache_again - find the rules of a position whose window is known
 * @state:	the position; the walk has looked up the window
 * @ip:		its address
 *
 * Others may have come and gone: a compiler that registers all the time must
 * not empty the cache for the windows that stay.
 *
 * Return: as sframe_cache_find().
 */
const struct unwind_user_frame *
sframe_cache_again(const struct unwind_user_state *state, unsigned long ip)
{
	const struct sframe_walk *walk = &state->sframe;
	struct sframe_cache *cache = walk->cache;
	struct sframe_cache_entry *entry, *end;

	if (!cache || cache->owned == cache->stamp)
		return NULL;
	entry = state->exact_ip ? sframe_cache_row(cache, ip) :
				  sframe_cache_set(cache, ip);
	end = entry + (state->exact_ip ? 1 : SFRAME_CACHE_WAYS);
	for (; entry < end; entry++) {
		if (!sframe_cache_is(entry, ip, state->exact_ip) ||
		    entry->id != walk->window->id ||
		    entry->stamp < cache->owned)
			continue;
		/* The window was looked up in the table's present state. */
		if (walk->seq == cache->changes)
			entry->stamp = cache->stamp;
		return &entry->frame;
	}
	return NULL;
}

/* That of @ip if there is one, so that there is one only; or an empty one. */
static struct sframe_cache_entry *
sframe_cache_victim(struct sframe_cache *cache, unsigned long ip)
{
	struct sframe_cache_entry *set = sframe_cache_set(cache, ip);
	unsigned int i;

	for (i = 0; i < SFRAME_CACHE_WAYS; i++)
		if (set[i].ip == ip || set[i].stamp < cache->owned)
			return &set[i];
	return &set[cache->stores++ % SFRAME_CACHE_WAYS];
}

/**
 * sframe_cache_store - keep rules
 * @state:	position of the walk that has found them; nothing has changed
 *		since its count of changes
 * @frame:	the rules
 * @first:	first address of their row
 * @length:	number of its addresses
 */
void sframe_cache_store(const struct unwind_user_state *state,
			const struct unwind_user_frame *frame,
			unsigned long first, unsigned long length)
{
	const struct sframe_walk *walk = &state->sframe;
	struct sframe_cache *cache = walk->cache;
	unsigned long ip = sframe_lookup_ip(state), block, last;
	struct sframe_cache_entry *entry;

	if (!cache || walk->seq != cache->changes)
		return;
	if (state->exact_ip) {
		block = ip - ip % SFRAME_CACHE_BLOCK;
		last = min(first + length - 1, block + SFRAME_CACHE_BLOCK - 1);
		first = max(first, block);
		entry = sframe_cache_row(cache, ip);
		entry->ip = -first;
		entry->length = last - first + 1;
	} else {
		entry = sframe_cache_victim(cache, ip);
		entry->ip = ip;
		entry->length = 0;
	}
	entry->stamp = cache->stamp;
	entry->id = walk->window ? walk->window->id : 0;
	entry->frame = *frame;
}

/**
 * sframe_cache_range - find what was looked up for an address
 * @walk:	the walk, with the count of changes of now; its range is filled
 * @ip:		the address
 *
 * The window is there: nothing was removed since, see sframe_changed().
 *
 * Return: false if it has to be looked up.
 */
bool sframe_cache_range(struct sframe_walk *walk, unsigned long ip)
{
	const struct sframe_cache *cache = walk->cache;
	const struct sframe_cache_range *range;
	unsigned int i;

	if (!cache || walk->seq != cache->changes)
		return false;

	for (i = 0; i < SFRAME_CACHE_RANGES; i++) {
		range = &cache->ranges[i];
		if (ip - range->first >= range->length ||
		    range->stamp != cache->stamp)
			continue;
		walk->window = range->window;
		walk->first = range->first;
		walk->length = range->length;
		return true;
	}
	return false;
}

/**
 * sframe_cache_keep_range - keep what was looked up
 * @walk:	the walk, with its range
 *
 * If there was a change, nobody gets to it: the table is renewed before the
 * count of the walk is that of the table again.
 */
void sframe_cache_keep_range(const struct sframe_walk *walk)
{
	struct sframe_cache *cache = walk->cache;

	if (!cache)
		return;
	cache->ranges[cache->looks++ % SFRAME_CACHE_RANGES] =
		(struct sframe_cache_range){
			.window = walk->window,
			.first = walk->first,
			.length = walk->length,
			.stamp = cache->stamp,
		};
}
