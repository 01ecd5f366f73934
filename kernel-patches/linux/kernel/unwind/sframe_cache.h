/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules that were decoded, by address: most stacks have been walked before, but
 * for a few frames.
 *
 * Each CPU has a table of its own, which is used with preemption disabled. So
 * what an entry has to be protected from is an NMI on this CPU, that walks while
 * the entry is written or used: see sframe_cache_store().
 *
 * An entry is used for the address space, and as long as nothing was registered
 * or removed there. It then says what the step would decode, unless user space
 * has changed a section that it said would not change, and then it says what
 * user space has published before. Live windows are not cached.
 *
 * When a CPU walks in another address space, the table is empty for it. So no
 * process finds out by the time of its own samples what others have sampled.
 */
#ifndef _KERNEL_UNWIND_SFRAME_CACHE_H
#define _KERNEL_UNWIND_SFRAME_CACHE_H

#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/unwind_user_types.h>

#include "sframe.h"

/*
 * With four entries for each hash, stacks of hundreds of frames lose hardly one.
 * These are 80 kilobytes for each possible CPU, from the first window on.
 */
#define SFRAME_CACHE_BITS	8
#define SFRAME_CACHE_WAYS	4

/**
 * struct sframe_cache_entry - the rules at one address
 * @seq:	odd while the entry is written; @ip is 0 then
 * @epoch:	of the table when it was written
 * @changes:	of the registry
 * @ip:		the address
 * @id:		of the window, or 0
 * @frame:	the rules
 */
struct sframe_cache_entry {
	u32				seq;
	u64				epoch;
	u64				changes;
	unsigned long			ip;
	u64				id;
	struct unwind_user_frame	frame;
};

/**
 * struct sframe_cache - the table of a CPU
 * @owner:	id of the registry that it is for
 * @epoch:	entries of other epochs are empty
 * @stores:	counted, to take turns between the entries of a hash
 * @sets:	by a hash of the address
 */
struct sframe_cache {
	u64				owner;
	u64				epoch;
	unsigned int			stores;
	struct sframe_cache_entry	sets[1 << SFRAME_CACHE_BITS]
					    [SFRAME_CACHE_WAYS];
};

int sframe_cache_init(void);
void sframe_cache_attach(struct sframe_walk *walk);
bool sframe_cache_again(const struct sframe_walk *walk, unsigned long ip,
			u64 id, struct unwind_user_frame *frame);
void sframe_cache_store(const struct sframe_walk *walk, unsigned long ip,
			u64 id, const struct unwind_user_frame *frame);

static __always_inline struct sframe_cache_entry *
sframe_cache_set(const struct sframe_walk *walk, unsigned long ip)
{
	return walk->cache->sets[hash_64(ip, SFRAME_CACHE_BITS)];
}

/* The entry of @ip, to be used until sframe_cache_used() is asked, or NULL. */
static __always_inline const struct sframe_cache_entry *
sframe_cache_entry(const struct sframe_walk *walk, unsigned long ip, u32 *seq)
{
	const struct sframe_cache_entry *entry = sframe_cache_set(walk, ip);
	unsigned int i;

	for (i = 0; i < SFRAME_CACHE_WAYS; i++, entry++) {
		*seq = READ_ONCE(entry->seq);
		barrier();
		if (entry->ip != ip || entry->epoch != walk->epoch)
			continue;
		/* A call to nowhere is looked up at 0, too. */
		return likely(!(*seq & 1)) ? entry : NULL;
	}
	return NULL;
}

/* The same, of an address space in which nothing has changed since. */
static __always_inline const struct sframe_cache_entry *
sframe_cache_find(const struct sframe_walk *walk, unsigned long ip, u32 *seq)
{
	const struct sframe_cache_entry *entry;

	entry = sframe_cache_entry(walk, ip, seq);
	if (!entry || entry->changes != READ_ONCE(walk->reg->seq))
		return NULL;
	return entry;
}

/* Was it the same until now? */
static __always_inline bool
sframe_cache_used(const struct sframe_cache_entry *entry, u32 seq)
{
	barrier();
	return READ_ONCE(entry->seq) == seq;
}

#endif /* _KERNEL_UNWIND_SFRAME_CACHE_H */
