// SPDX-License-Identifier: GPL-2.0
/*
 * The cache of rules: what is not done for each frame.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
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

/**
 * sframe_cache_attach - let a walk use the cache of this CPU
 * @walk:	the walk; there is a window, so there is a cache
 *
 * An NMI may come between any two stores. The epoch goes first: the walk in an
 * NMI then either empties the table itself, or finds it empty.
 */
void sframe_cache_attach(struct sframe_walk *walk)
{
	struct sframe_cache *cache = this_cpu_read(sframe_caches);

	lockdep_assert_preemption_disabled();
	if (READ_ONCE(cache->owner) != walk->reg->id) {
		WRITE_ONCE(cache->epoch, cache->epoch + 1);
		barrier();
		WRITE_ONCE(cache->owner, walk->reg->id);
	}
	walk->cache = cache;
	walk->epoch = READ_ONCE(cache->epoch);
}

/**
 * sframe_cache_again - find the rules of an address whose window is known
 * @walk:	the walk
 * @ip:		the address
 * @id:		of the window
 * @frame:	filled
 *
 * Others may have come and gone: a compiler that registers all the time must
 * not empty the cache for the windows that stay.
 *
 * Return: false if they are not there.
 */
bool sframe_cache_again(const struct sframe_walk *walk, unsigned long ip,
			u64 id, struct unwind_user_frame *frame)
{
	const struct sframe_cache_entry *entry;
	u32 seq;

	entry = sframe_cache_entry(walk, ip, &seq);
	if (!entry || entry->id != id)
		return false;
	*frame = entry->frame;
	if (!sframe_cache_used(entry, seq))
		return false;
	sframe_cache_store(walk, ip, id, frame);
	return true;
}

/* That of @ip if there is one, so that there is one only; or an old one. */
static struct sframe_cache_entry *
sframe_cache_victim(const struct sframe_walk *walk, unsigned long ip)
{
	struct sframe_cache_entry *set = sframe_cache_set(walk, ip);
	unsigned int i;

	for (i = 0; i < SFRAME_CACHE_WAYS; i++)
		if (set[i].ip == ip)
			return &set[i];
	for (i = 0; i < SFRAME_CACHE_WAYS; i++)
		if (set[i].epoch != walk->epoch)
			return &set[i];
	return &set[walk->cache->stores++ % SFRAME_CACHE_WAYS];
}

/**
 * sframe_cache_store - keep the rules of an address
 * @walk:	the walk that has decoded them; nothing has changed since its
 *		count of changes
 * @ip:		the address
 * @id:		of the window, or 0 if there is none
 * @frame:	the rules
 *
 * Who is interrupted while it writes leaves the number odd and no address: who
 * interrupts it does not find the entry, and leaves it alone. Who is interrupted
 * before it writes the odd number writes over what came in between, and ends
 * with the same even number. Who is interrupted while it uses the entry finds
 * another number.
 */
void sframe_cache_store(const struct sframe_walk *walk, unsigned long ip,
			u64 id, const struct unwind_user_frame *frame)
{
	struct sframe_cache_entry *entry = sframe_cache_victim(walk, ip);
	u32 seq = READ_ONCE(entry->seq);

	if (seq & 1)
		return;
	WRITE_ONCE(entry->seq, seq + 1);
	WRITE_ONCE(entry->ip, 0);
	barrier();
	entry->epoch = walk->epoch;
	entry->changes = walk->seq;
	entry->id = id;
	entry->frame = *frame;
	barrier();
	WRITE_ONCE(entry->ip, ip);
	WRITE_ONCE(entry->seq, seq + 2);
}
